import type { ReactNode } from 'react'
import { useEffect, useRef, useState } from 'react'

import { wordsOf } from './facts.ts'
import { useLive } from './live.ts'
import { announcement, titleOf } from './words.ts'

/** Says each change of state once to a screen reader, and keeps the tab's title telling. */
export function LiveRegion(props: { fresh: boolean }): ReactNode {
  const { runs } = useLive()
  const { fresh } = props
  const badges = useRef(new Map<string, string>())
  const [said, setSaid] = useState('')

  useEffect(() => {
    const now = Date.now()
    const news: string[] = []
    const running = []
    for (const run of runs.values()) {
      const words = wordsOf(run, now, true)
      const before = badges.current.get(run.id)
      if (before !== undefined && before !== words.badge) news.push(announcement(titleOf(run), words))
      badges.current.set(run.id, words.badge)
      if (!words.ended) running.push(run)
    }
    if (news.length > 0) setSaid(news.join('. '))
    const percent = running.length === 1 ? running[0]?.percent : null
    const count = running.length > 0 ? `(${running.length}) ` : ''
    document.title = `${fresh ? '' : '? '}${count}${percent != null ? `${Math.floor(percent)}% · ` : ''}Ask your database`
  }, [runs, fresh])

  return (
    <p className="unseen" aria-live="polite">
      {said}
    </p>
  )
}
