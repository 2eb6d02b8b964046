import type { FormEvent, ReactNode } from 'react'
import { lazy, Suspense, useState } from 'react'

import { deleteRun, labelRun, saidBy } from '../api.ts'
import { useDatabase } from '../database.ts'
import { Dialog } from '../Dialog.tsx'
import { adopt, drop } from '../live.ts'
import { Menu } from '../Menu.tsx'
import { go } from '../path.ts'
import type { SeenRun } from '../types.ts'
import { titleOf } from '../words.ts'

const SharePanel = lazy(() => import('./SharePanel.tsx'))

/** Keeping a run in order: its title, whether it stays, and that it goes. */
export function RunMenu(props: { run: SeenRun }): ReactNode {
  const { run } = props
  const database = useDatabase()
  const [asking, setAsking] = useState<'rename' | 'share' | 'delete' | null>(null)
  const [problem, setProblem] = useState<string | null>(null)

  const attempt = async (act: () => Promise<void>): Promise<void> => {
    setProblem(null)
    try {
      await act()
      setAsking(null)
    } catch (error) {
      setProblem(saidBy(error))
    }
  }
  const pin = (): Promise<void> =>
    attempt(async () => adopt((await labelRun(run.id, { pinned: !run.pinned })).run))
  const rename = (title: string): Promise<void> =>
    attempt(async () => adopt((await labelRun(run.id, { title })).run))
  const remove = (): Promise<void> =>
    attempt(async () => {
      await deleteRun(run.id)
      go('/')
      drop(run.id)
    })
  return (
    <>
      <Menu label="More">
        <div className="column-list">
          <button type="button" className="link" onClick={() => void pin()}>
            {run.pinned ? 'Unpin' : 'Pin: keep it for good'}
          </button>
          <button type="button" className="link" onClick={() => setAsking('rename')}>
            Rename
          </button>
          {database?.can_share && (
            <button type="button" className="link" onClick={() => setAsking('share')}>
              Share
            </button>
          )}
          {run.ended_at !== null && (
            <button type="button" className="link" onClick={() => setAsking('delete')}>
              Delete
            </button>
          )}
          {asking === null && problem && <p className="problem">{problem}</p>}
        </div>
      </Menu>
      {asking === 'rename' && (
        <Dialog title="Rename" onClose={() => setAsking(null)}>
          <Rename run={run} problem={problem} onRename={(title) => void rename(title)} />
        </Dialog>
      )}
      {asking === 'share' && (
        <Dialog title="Share this run" onClose={() => setAsking(null)}>
          <Suspense fallback={<p className="dim">Opening…</p>}>
            <SharePanel run={run} />
          </Suspense>
        </Dialog>
      )}
      {asking === 'delete' && (
        <Dialog title="Delete this run?" onClose={() => setAsking(null)}>
          <p>“{titleOf(run)}” and its result will be gone, here and for every other program.</p>
          <div className="acts">
            <button type="button" className="primary danger" onClick={() => void remove()}>
              Delete it
            </button>
            <button type="button" onClick={() => setAsking(null)}>
              Keep it
            </button>
          </div>
          <p className="problem" role="alert">
            {problem}
          </p>
        </Dialog>
      )}
    </>
  )
}

function Rename(props: { run: SeenRun; problem: string | null; onRename: (title: string) => void }): ReactNode {
  const [title, setTitle] = useState(props.run.title ?? '')
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    props.onRename(title)
  }
  return (
    <form className="rename" onSubmit={submit}>
      <input
        autoFocus
        type="text"
        aria-label="Title"
        maxLength={200}
        placeholder={titleOf({ ...props.run, title: null })}
        value={title}
        onChange={(event) => setTitle(event.target.value)}
      />
      <button type="submit" className="primary">
        Save
      </button>
      <p className="dim">Without a title, it is called by its question again.</p>
      <p className="problem" role="alert">
        {props.problem}
      </p>
    </form>
  )
}
