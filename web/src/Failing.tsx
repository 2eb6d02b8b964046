import type { ReactNode } from 'react'
import { Component } from 'react'

/** Says that a part of the page broke, where otherwise all of it would be blank. */
export class Failing extends Component<{ children: ReactNode }, { error: Error | null }> {
  override state: { error: Error | null } = { error: null }

  static getDerivedStateFromError(error: Error): { error: Error } {
    return { error }
  }

  override render(): ReactNode {
    if (this.state.error === null) return this.props.children
    return (
      <section className="front" role="alert">
        <h1>This part of the page cannot be shown</h1>
        <p>Your runs are not affected. The page may have been updated meanwhile: load it again.</p>
        <p>
          <button type="button" onClick={() => location.reload()}>
            Load the page again
          </button>
        </p>
        <p className="dim">{this.state.error.message}</p>
      </section>
    )
  }
}
