import type { ReactNode } from 'react'
import { useEffect, useRef } from 'react'

import { AskBox } from './AskBox.tsx'
import { timeOfDay, useNow } from './clock.ts'
import { FrontPage } from './FrontPage.tsx'
import { Inbox } from './Inbox.tsx'
import { Link } from './Link.tsx'
import { useLive } from './live.ts'
import { LiveRegion } from './LiveRegion.tsx'
import { useRunId } from './path.ts'
import { RunView } from './RunView.tsx'
import { connection } from './words.ts'

export function App(): ReactNode {
  const live = useLive()
  const now = useNow()
  const runId = useRunId()
  const askBox = useRef<HTMLInputElement | HTMLTextAreaElement>(null)
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
    <div className={runId === null ? 'page at-front' : 'page at-run'}>
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
        {runId === null ? (
          <FrontPage />
        ) : (
          <RunView key={runId} id={runId} fresh={link.current} />
        )}
      </main>
      <LiveRegion fresh={link.current} />
    </div>
  )
}
