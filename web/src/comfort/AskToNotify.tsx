import type { ReactNode } from 'react'

import { prefer, usePreferences } from '../preferences.ts'
import { askToNotify, canNotify } from './notify.ts'

/** Offered once, when a run has made somebody wait. */
export function AskToNotify(): ReactNode {
  const { notify } = usePreferences()
  if (notify !== 'ask' || !canNotify()) return null
  const yes = async (): Promise<void> => prefer({ notify: (await askToNotify()) ? 'yes' : 'no' })
  return (
    <p className="notice">
      Shall the browser tell you when it ends or asks something, while you look elsewhere?{' '}
      <button type="button" className="link" onClick={() => void yes()}>
        Yes, tell me
      </button>{' '}
      <button type="button" className="link" onClick={() => prefer({ notify: 'no' })}>
        No
      </button>
    </p>
  )
}
