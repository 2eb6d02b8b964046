import type { ReactNode } from 'react'
import { lazy, Suspense, useEffect, useRef } from 'react'

import { AskBox } from './asking/AskBox.tsx'
import { FrontPage } from './asking/FrontPage.tsx'
import { SupersedeDialog } from './asking/SupersedeDialog.tsx'
import { timeOfDay, useNow } from './clock.ts'
import { LiveRegion } from './comfort/LiveRegion.tsx'
import { Failing } from './Failing.tsx'
import { Inbox } from './inbox/Inbox.tsx'
import { Link } from './Link.tsx'
import { useLive } from './live.ts'
import { runIn, usePath } from './path.ts'
import { RunView } from './run/RunView.tsx'
import { connection } from './words.ts'

const SqlPage = lazy(() => import('./asking/SqlPage.tsx'))

export function App(): ReactNode {
  const live = useLive()
  const now = useNow()
  const path = usePath()
  const runId = runIn(path)
  const askBox = useRef<HTMLInputElement>(null)
  const stopButton = useRef<HTMLButtonElement>(null)
  const silent = live.heardAt === null ? null : Math.max(0, now - live.heardAt) / 1000
  const link = connection(live.stream, silent, live.server, timeOfDay)

  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return
      const target = event.target as HTMLElement
      if (target.closest('input, textarea, [contenteditable]')) return
      event.preventDefault()
      askBox.current?.focus()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])

  return (
    <div className={path === '/' ? 'page at-front' : 'page at-run'}>
      <header>
        <Link to="/" className="name">
          awhile
        </Link>
        <AskBox box={askBox} />
        <p className={`connection tone-${link.tone}`} role="status">
          {link.word}
        </p>
      </header>
      <Inbox current={runId} fresh={link.current} />
      <main>
        <Failing key={path}>
          {runId !== null ? (
            <RunView key={runId} id={runId} fresh={link.current} stopButton={stopButton} />
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
      <LiveRegion fresh={link.current} />
    </div>
  )
}
