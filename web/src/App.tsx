import type { ReactNode } from 'react'
import { lazy, Suspense, useRef, useState } from 'react'

import { AskBox } from './asking/AskBox.tsx'
import { FrontPage } from './asking/FrontPage.tsx'
import { SupersedeDialog } from './asking/SupersedeDialog.tsx'
import { timeOfDay, useNow } from './clock.ts'
import { LiveRegion } from './comfort/LiveRegion.tsx'
import { useShortcuts } from './comfort/shortcuts.ts'
import { Failing } from './Failing.tsx'
import { Inbox } from './inbox/Inbox.tsx'
import { grouped } from './inbox/sorting.ts'
import { Link } from './Link.tsx'
import { useLive } from './live.ts'
import { go, pathOf, runIn, shareIn, usePath } from './path.ts'
import { PersonMenu, SignInAgain } from './PersonMenu.tsx'
import { RunView } from './run/RunView.tsx'
import { connection } from './words.ts'

const HelpSheet = lazy(() => import('./comfort/HelpSheet.tsx'))
const SharedView = lazy(() => import('./run/SharedView.tsx'))
const SqlPage = lazy(() => import('./asking/SqlPage.tsx'))

export function App(): ReactNode {
  const live = useLive()
  const now = useNow()
  const path = usePath()
  const runId = runIn(path)
  const shareId = shareIn(path)
  const askBox = useRef<HTMLInputElement>(null)
  const [help, setHelp] = useState(false)
  const search = useRef<HTMLInputElement>(null)
  const stopButton = useRef<HTMLButtonElement>(null)
  const silent = live.heardAt === null ? null : Math.max(0, now - live.heardAt) / 1000
  const link = connection(live.stream, silent, live.server, timeOfDay)

  const step = (by: 1 | -1): void => {
    const listed = grouped(live.runs.values(), '', 'all').flatMap(([, members]) => members)
    const next = listed[Math.max(0, listed.findIndex((run) => run.id === runId) + by)]
    if (next) go(pathOf(next.id))
  }
  useShortcuts({
    '/': () => askBox.current?.focus(),
    '?': () => setHelp(true),
    e: () => go('/sql'),
    h: () => go('/'),
    i: () => search.current?.focus(),
    j: () => step(1),
    k: () => step(-1),
    s: () => stopButton.current?.focus(),
    t: () => document.querySelector<HTMLElement>('[role=grid]')?.focus(),
  })

  return (
    <div className={path === '/' ? 'page at-front' : 'page at-run'}>
      <header>
        <Link to="/" className="name">
          awhile
        </Link>
        <AskBox box={askBox} />
        <button type="button" className="quiet help" aria-label="Help and settings" onClick={() => setHelp(true)}>
          ?
        </button>
        <p className={`connection tone-${link.tone}`} role="status">
          {link.word}
          {live.stream === 'signed-out' && (
            <>
              {' · '}
              <SignInAgain />
            </>
          )}
        </p>
        {live.stream !== 'signed-out' && <PersonMenu />}
      </header>
      <Inbox current={runId} fresh={link.current} search={search} />
      <main>
        <Failing key={path}>
          {runId !== null ? (
            <RunView key={runId} id={runId} fresh={link.current} stopButton={stopButton} />
          ) : shareId !== null ? (
            <Suspense fallback={<p className="dim">Opening…</p>}>
              <SharedView key={shareId} shareId={shareId} fresh={link.current} />
            </Suspense>
          ) : path === '/sql' ? (
            <Suspense fallback={<p className="dim">Opening…</p>}>
              <SqlPage />
            </Suspense>
          ) : (
            <FrontPage />
          )}
        </Failing>
      </main>
      <SupersedeDialog />
      {help && (
        <Suspense>
          <HelpSheet onClose={() => setHelp(false)} />
        </Suspense>
      )}
      <LiveRegion fresh={link.current} />
    </div>
  )
}
