import type { ReactNode } from 'react'
import { memo } from 'react'

import { useNow } from '../clock.ts'
import { elapsedOf, wordsOf } from '../facts.ts'
import { Link } from '../Link.tsx'
import { useLive } from '../live.ts'
import { pathOf } from '../path.ts'
import type { SeenRun } from '../types.ts'
import { duration, percentInWords, ticking, titleOf } from '../words.ts'

const GROUPS = ['Needs you', 'Running', 'Ended'] as const

function groupOf(run: SeenRun): (typeof GROUPS)[number] {
  if (run.status === 'input_required') return 'Needs you'
  return run.status === 'working' ? 'Running' : 'Ended'
}

export function Inbox(props: { current: string | null; fresh: boolean }): ReactNode {
  const { runs } = useLive()
  const newestFirst = [...runs.values()].sort((a, b) =>
    (b.created_at ?? '').localeCompare(a.created_at ?? ''),
  )
  return (
    <nav className="inbox" aria-label="Your questions">
      {GROUPS.map((group) => {
        const members = newestFirst.filter((run) => groupOf(run) === group)
        return (
          members.length > 0 && (
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
          )
        )
      })}
      {runs.size === 0 && <p className="dim none">Your questions will be listed here.</p>}
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
        </span>
        {percent !== null && <span className="hairline" style={{ inlineSize: `${percent}%` }} />}
      </Link>
    </li>
  )
})
