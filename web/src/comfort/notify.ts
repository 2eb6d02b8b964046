// Notifications: asked for once, when somebody has begun to wait, and only sent when nobody looks.

import { go, pathOf } from '../path.ts'
import { preferred } from '../preferences.ts'
import { isLookedAt } from './presence.ts'

/** Whether the browser can be asked at all. */
export function canNotify(): boolean {
  return 'Notification' in window && Notification.permission !== 'denied'
}

/** Asks the browser; whether it allows it. */
export async function askToNotify(): Promise<boolean> {
  return (await Notification.requestPermission()) === 'granted'
}

/** Tells of a run that has ended or asks, unless somebody looks. The leading tab alone does. */
export async function tellOf(id: string, title: string, words: string): Promise<void> {
  if (preferred().notify !== 'yes' || !canNotify() || Notification.permission !== 'granted') return
  if (await isLookedAt()) return
  const told = new Notification(title, { body: words, tag: id })
  told.onclick = () => {
    window.focus()
    go(pathOf(id))
    told.close()
  }
}
