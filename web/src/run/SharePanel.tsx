import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useState } from 'react'

import { fetchShares, revokeShare, saidBy, shareRun } from '../api.ts'
import { dayAndTime } from '../clock.ts'
import { addressOfShare } from '../path.ts'
import type { SeenRun, Share } from '../types.ts'
import { openedInWords } from '../words.ts'
import { Copy, isCopied } from './Copy.tsx'

const UNTIL: [string, number | null][] = [
  ['until I take it back', null],
  ['for a day', 1],
  ['for a week', 7],
  ['for 30 days', 30],
]

/** Lets others read a run by a link, and takes links back. */
export default function SharePanel(props: { run: SeenRun }): ReactNode {
  const { id } = props.run
  const queries = useQueryClient()
  const kept = useQuery({ queryKey: ['shares', id], queryFn: () => fetchShares(id), staleTime: 0 })
  const [days, setDays] = useState<number | null>(null)
  const [made, setMade] = useState<{ share: string; address: string; copied: boolean } | null>(null)
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)

  const attempt = async (act: () => Promise<void>): Promise<void> => {
    setBusy(true)
    setProblem(null)
    try {
      await act()
    } catch (error) {
      setProblem(saidBy(error))
    } finally {
      setBusy(false)
    }
  }
  const make = (): Promise<void> =>
    attempt(async () => {
      const { share, share_id } = await shareRun(id, days)
      const address = addressOfShare(share_id)
      setMade({ share, address, copied: await isCopied(address) })
      await kept.refetch()
    })
  const takeBack = (share: string | null): Promise<void> =>
    attempt(async () => {
      queries.setQueryData(['shares', id], await revokeShare(id, share))
      if (share === null || share === made?.share) setMade(null)
    })
  const shares = kept.data?.shares ?? []
  return (
    <div className="sharing">
      <p>
        Anyone who can sign in here and has the link can read this run: its question, its SQL and its rows, even
        where the database would not show these rows to them. They cannot stop, change or delete it, and see nothing
        else of yours.
      </p>
      <div className="acts">
        <label>
          It works{' '}
          <select value={days ?? ''} onChange={(event) => setDays(Number(event.target.value) || null)}>
            {UNTIL.map(([words, value]) => (
              <option key={words} value={value ?? ''}>
                {words}
              </option>
            ))}
          </select>
        </label>
        <button type="button" className="primary" disabled={busy} onClick={() => void make()}>
          Make a link
        </button>
      </div>
      {made && (
        <div className="made">
          <input
            type="text"
            readOnly
            aria-label="The link"
            value={made.address}
            onFocus={(event) => event.target.select()}
          />
          <Copy text={made.address} label="Copy" />
          <p className="dim" role="status">
            {made.copied ? 'Copied.' : 'Not copied yet.'} It is shown this once: only its hash is kept.
          </p>
        </div>
      )}
      {shares.length > 0 && (
        <>
          <h3>Links to this run</h3>
          <ul aria-label="Links to this run">
            {shares.map((one) => (
              <li key={one.share}>
                <Told share={one} isNew={one.share === made?.share} />
                <button type="button" className="quiet" disabled={busy} onClick={() => void takeBack(one.share)}>
                  Take back
                </button>
              </li>
            ))}
          </ul>
          {shares.length > 1 && (
            <button type="button" className="quiet" disabled={busy} onClick={() => void takeBack(null)}>
              Take all back
            </button>
          )}
        </>
      )}
      <p className="problem" role="alert">
        {problem ?? kept.error?.message}
      </p>
    </div>
  )
}

function Told(props: { share: Share; isNew: boolean }): ReactNode {
  const { share } = props
  return (
    <span>
      {props.isNew ? 'Made just now' : `Made ${dayAndTime(share.made_at)}`}{' '}
      <span className="dim">
        · {openedInWords(share.opened)}
        {share.expires_at !== null && ` · works until ${dayAndTime(share.expires_at)}`}
      </span>
    </span>
  )
}
