import type { ReactNode } from 'react'
import { useState } from 'react'

import { saidBy } from '../api.ts'
import { isCut } from './copying.ts'

/** More than this is not shown on the page; it can be copied. */
const MOST_SHOWN = 1_000_000

/** The cell one is in, where the grid has too little room for it. */
export function WholeCell(props: { cell: string; whole: () => Promise<string> }): ReactNode {
  const [all, setAll] = useState<string | null>(null)
  const [said, setSaid] = useState<string | null>(null)
  const load = async (): Promise<void> => {
    setSaid('Fetching all of it…')
    try {
      const text = await props.whole()
      setAll(text)
      setSaid(text.length > MOST_SHOWN ? 'Only the beginning is shown; copying it copies all.' : null)
    } catch (error) {
      setSaid(saidBy(error))
    }
  }
  const text = all ?? props.cell
  return (
    <div className="whole-cell">
      {isCut(props.cell) && all === null && (
        <p>
          This is the beginning of a very long cell.{' '}
          <button type="button" className="link" onClick={() => void load()}>
            Show all of it
          </button>
        </p>
      )}
      {said && <p className="dim">{said}</p>}
      <pre tabIndex={0} aria-label="The cell">
        {text.length > MOST_SHOWN ? text.slice(0, MOST_SHOWN) : text}
      </pre>
    </div>
  )
}
