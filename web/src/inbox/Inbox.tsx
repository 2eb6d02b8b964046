import type { ReactNode, RefObject } from 'react'
import { memo, useState } from 'react'

import { useNow } from '../clock.ts'
import { elapsedOf, wordsOf } from '../facts.ts'
import { Link } from '../Link.tsx'
import { useLive } from '../live.ts'
import { pathOf } from '../path.ts'
import type { SeenRun } from '../types.ts'
import { duration, percentInWords, ticking, titleOf } from '../words.ts'
import type { Wanted } from './sorting.ts'
import { grouped, STATES, whenInWords } from './sorting.ts'

const SEARCH_FROM = 5

const WANTED: Record<Wanted, string> = {
  all: 'All',
  running: 'Running',
  answered: 'Answered',
  failed: 'Failed',
  stopped: 'Stopped',
}

/** Every run: what needs the person first, then what runs, then what is there to be read. */
export function Inbox(props: {
  current: string | null
  fresh: boolean
  search: RefObject<HTMLInputElement | null>
}): ReactNode {
  const { runs } = useLive()
  const [words, setWords] = useState('')
  const [wanted, setWanted] = useState<Wanted>('all')
  const groups = grouped(runs.values(), words, wanted)
  return (
    <nav className="inbox" aria-label="Your questions">
      {runs.size >= SEARCH_FROM && (
        <div className="inbox-search">
          <input
            ref={props.search}
            type="search"
            aria-label="Search your questions"
            placeholder="Search"
            value={words}
            onChange={(event) => setWords(event.target.value)}
            onKeyDown={(event) => {
              if (event.key !== 'Escape') return
              setWords('')
              event.currentTarget.blur()
            }}
          />
          <select aria-label="Show" value={wanted} onChange={(event) => setWanted(event.target.value as Wanted)}>
            {STATES.map((state) => (
              <option key={state} value={state}>
                {WANTED[state]}
              </option>
            ))}
          </select>
        </div>
      )}
      {groups.map(([group, members]) => (
        <section key={group}>
          <h2>
            {group} <span className="dim">{members.length}</span>
          </h2>
          <ul>
            {members.map((run) => (
              <Row key={run.id} run={run} current={run.id === props.current} fresh={props.fresh} />
            ))}
          </ul>
        </section>
      ))}
      {runs.size === 0 && <p className="dim none">Your questions will be listed here.</p>}
      {runs.size > 0 && groups.length === 0 && <p className="dim none">None of your questions fits.</p>}
    </nav>
  )
}

const Row = memo(function Row(props: { run: SeenRun; current: boolean; fresh: boolean }): ReactNode {
  const { run } = props
  const now = useNow(run.ended_at === null)
  const words = wordsOf(run, now, props.fresh)
  const elapsed = elapsedOf(run, now, props.fresh)
  const percent = words.ended ? null : run.percent
  return (
    <li>
      <Link to={pathOf(run.id)} current={props.current}>
        <span className="title">{titleOf(run)}</span>
        <span className="meta">
          <span className={`badge tone-${words.tone}`}>{words.badge}</span>
          {percent !== null && <span>{percentInWords(percent)}</span>}
          <span className="elapsed">{words.ended ? duration(elapsed) : ticking(elapsed)}</span>
          <span>{whenInWords(run.created_at, new Date(now))}</span>
        </span>
        {percent !== null && <span className="hairline" style={{ inlineSize: `${percent}%` }} />}
      </Link>
    </li>
  )
})
