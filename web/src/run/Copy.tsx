import type { ReactNode } from 'react'
import { useEffect, useState } from 'react'

/** Copies a text; false where the browser does not allow it. */
export async function isCopied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
}

/** Copies a text, and says that it has. */
export function Copy(props: { text: string; label?: string }): ReactNode {
  const [said, setSaid] = useState<string | null>(null)
  useEffect(() => {
    if (said === null) return
    const soon = setTimeout(() => setSaid(null), 1800)
    return () => clearTimeout(soon)
  }, [said])
  const copy = async (): Promise<void> => {
    setSaid((await isCopied(props.text)) ? 'Copied' : 'Not copied: the browser does not allow it')
  }
  return (
    <button type="button" className="quiet" onClick={() => void copy()}>
      {said ?? props.label ?? 'Copy'}
    </button>
  )
}
