import type { ReactNode } from 'react'
import { useEffect, useRef, useState } from 'react'

import { wordsOf } from '../facts.ts'
import asksIcon from '../icons/asks.svg'
import awayIcon from '../icons/away.svg'
import endedIcon from '../icons/ended.svg'
import runningIcon from '../icons/running.svg'
import { isLeading, useLive } from '../live.ts'
import { announcement, titleOf } from '../words.ts'
import { tellOf } from './notify.ts'
import { iconFor, titleFor } from './tab.ts'

const ICONS = { asks: asksIcon, away: awayIcon, ended: endedIcon, idle: '/icon.svg', running: runningIcon }

/** Says each change of state once: to a screen reader, in the tab's title and icon, and beyond. */
export function LiveRegion(props: { fresh: boolean }): ReactNode {
  const { runs } = useLive()
  const { fresh } = props
  const badges = useRef(new Map<string, string>())
  const [said, setSaid] = useState('')
  const [unseen, setUnseen] = useState(0)

  useEffect(() => {
    const onLook = (): void => {
      if (!document.hidden) setUnseen(0)
    }
    document.addEventListener('visibilitychange', onLook)
    return () => document.removeEventListener('visibilitychange', onLook)
  }, [])

  useEffect(() => {
    const now = Date.now()
    const news: string[] = []
    for (const run of runs.values()) {
      const words = wordsOf(run, now, true)
      const before = badges.current.get(run.id)
      badges.current.set(run.id, words.badge)
      if (before === undefined || before === words.badge) continue
      news.push(announcement(titleOf(run), words))
      if (!words.ended && run.status !== 'input_required') continue
      if (words.ended && document.hidden) setUnseen((count) => count + 1)
      if (isLeading()) void tellOf(run.id, words.badge, titleOf(run))
    }
    if (news.length > 0) setSaid(news.join('. '))
  }, [runs])

  useEffect(() => {
    const live = [...runs.values()].filter((run) => run.ended_at === null)
    const told = {
      running: live.length,
      percent: live[0]?.percent ?? null,
      asks: live.filter((run) => run.status === 'input_required').length,
      unseen,
      fresh,
    }
    document.title = titleFor(told)
    const link = document.querySelector<HTMLLinkElement>('link[rel=icon]')
    const icon = ICONS[iconFor(told)]
    if (link && link.getAttribute('href') !== icon) link.href = icon
  }, [runs, fresh, unseen])

  return (
    <p className="unseen" aria-live="polite">
      {said}
    </p>
  )
}
