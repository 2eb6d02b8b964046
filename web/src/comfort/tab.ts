// What the tab itself tells: its title and its icon, also while another tab is looked at.

export type Icon = 'idle' | 'running' | 'asks' | 'ended' | 'away'

export interface Told {
  running: number
  /** Of the only running one, if it has a percentage. */
  percent: number | null
  asks: number
  /** What ended while nobody looked. */
  unseen: number
  fresh: boolean
}

const NAME = 'Ask your database'

export function titleFor(told: Told): string {
  if (!told.fresh) return `? ${NAME}`
  if (told.asks > 0) return `(!) ${told.asks} ${told.asks === 1 ? 'needs' : 'need'} you · ${NAME}`
  if (told.unseen > 0) return `✓ ${told.unseen} ended · ${NAME}`
  if (told.running === 0) return NAME
  const percent = told.running === 1 && told.percent !== null ? `${Math.floor(told.percent)}% · ` : ''
  return `(${told.running}) ${percent}${NAME}`
}

export function iconFor(told: Told): Icon {
  if (!told.fresh) return 'away'
  if (told.asks > 0) return 'asks'
  if (told.unseen > 0) return 'ended'
  return told.running > 0 ? 'running' : 'idle'
}
