import type { ReactNode } from 'react'

import { Dialog } from '../Dialog.tsx'
import { useOpenDecision } from './supersede.ts'

export function SupersedeDialog(): ReactNode {
  const decide = useOpenDecision()
  if (!decide) return null
  return (
    <Dialog title="The version before is still running" onClose={() => decide(null)}>
      <p>Shall it be stopped once the new one is started?</p>
      <div className="acts">
        <button type="button" className="primary" onClick={() => decide('stop')}>
          Stop it and run this one
        </button>
        <button type="button" onClick={() => decide('keep')}>
          Let both run
        </button>
      </div>
      <p className="dim">This is remembered; the settings (press ?) have it.</p>
    </Dialog>
  )
}
