import type { ReactNode } from 'react'

import { Dialog } from '../Dialog.tsx'
import type { Preferences } from '../preferences.ts'
import { prefer, usePreferences } from '../preferences.ts'
import { askToNotify, canNotify } from './notify.ts'
import { EDITOR_KEYS, GRID_KEYS, SHORTCUTS } from './shortcuts.ts'

/** The keys there are, and what one prefers. */
export default function HelpSheet(props: { onClose: () => void }): ReactNode {
  return (
    <Dialog title="Help and settings" onClose={props.onClose}>
      <Settings />
      <Keys name="Keys" keys={SHORTCUTS} />
      <Keys name="In the table" keys={GRID_KEYS} />
      <Keys name="In the SQL editor" keys={EDITOR_KEYS} />
    </Dialog>
  )
}

function Keys(props: { name: string; keys: [string, string][] }): ReactNode {
  return (
    <section>
      <h3>{props.name}</h3>
      <dl className="keys">
        {props.keys.map(([key, does]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}

function Settings(): ReactNode {
  const preferences = usePreferences()
  const notify = async (on: boolean): Promise<void> =>
    prefer({ notify: on && (await askToNotify()) ? 'yes' : 'no' })
  return (
    <section className="settings">
      <label>
        Colours
        <select value={preferences.theme} onChange={(event) => prefer({ theme: event.target.value as Preferences['theme'] })}>
          <option value="system">as the system has them</option>
          <option value="light">light</option>
          <option value="dark">dark</option>
        </select>
      </label>
      <label>
        When I run an edited version, the one before
        <select
          value={preferences.supersede}
          onChange={(event) => prefer({ supersede: event.target.value as Preferences['supersede'] })}
        >
          <option value="ask">is asked about</option>
          <option value="stop">is stopped</option>
          <option value="keep">runs on</option>
        </select>
      </label>
      <label>
        <input
          type="checkbox"
          checked={preferences.notify === 'yes'}
          disabled={!canNotify()}
          onChange={(event) => void notify(event.target.checked)}
        />
        Notify me when something ends or asks while I look elsewhere
      </label>
      <label>
        <input
          type="checkbox"
          checked={preferences.shortcuts}
          onChange={(event) => prefer({ shortcuts: event.target.checked })}
        />
        Single keys do what is said below
      </label>
    </section>
  )
}
