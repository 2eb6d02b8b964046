import type { ReactNode } from 'react'
import { useState } from 'react'

import { saidBy, signOut } from './api.ts'
import { leave } from './live.ts'
import { Menu } from './Menu.tsx'
import { usePath, useSearch } from './path.ts'
import { usePerson } from './session.ts'

/** Who is signed in, and the way out; nothing where one person has the page to themselves. */
export function PersonMenu(): ReactNode {
  const person = usePerson()
  const [problem, setProblem] = useState<string | null>(null)
  if (person === null) return null

  const out = async (): Promise<void> => {
    setProblem(null)
    try {
      const { go } = await signOut()
      leave('/signed-out')
      location.replace(go)
    } catch (error) {
      setProblem(saidBy(error))
    }
  }
  return (
    <div className="person">
      <Menu label={person.name}>
        <p className="dim">Runs go on when you sign out, unless they stop when you leave.</p>
        <p>
          <button type="button" onClick={() => void out()}>
            Sign out
          </button>
        </p>
        <p className="problem" role="alert">
          {problem}
        </p>
      </Menu>
    </div>
  )
}

/** The way back in. In a tab of its own, so that what is typed here stays; this one then goes on. */
export function SignInAgain(): ReactNode {
  const place = usePath() + useSearch()
  return (
    <a href={`/sign-in?to=${encodeURIComponent(place)}`} target="_blank" rel="noopener">
      Sign in again
    </a>
  )
}
