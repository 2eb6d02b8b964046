// Whether anybody looks at any tab of this browser: a tab that is looked at holds a shared lock.

const LOCK = 'awhile:looked-at'

let release: (() => void) | null = null

function hold(): void {
  if (release !== null || document.hidden) return
  void navigator.locks.request(LOCK, { mode: 'shared' }, () => {
    if (document.hidden) return undefined
    return new Promise<void>((resolve) => (release = resolve))
  })
}

function letGo(): void {
  release?.()
  release = null
}

document.addEventListener('visibilitychange', () => (document.hidden ? letGo() : hold()))
hold()

/** Whether some tab is looked at now. */
export async function isLookedAt(): Promise<boolean> {
  if (!document.hidden) return true
  const { held } = await navigator.locks.query()
  return held?.some((lock) => lock.name === LOCK) ?? false
}
