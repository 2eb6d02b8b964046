import type { ReactNode } from 'react'

import type { Answer } from '../types.ts'
import { answerInWords } from './forms.ts'

/** What was asked and answered, as given. */
export function Answers(props: { answers: Answer[] }): ReactNode {
  if (props.answers.length === 0) return null
  return (
    <ul className="answers" aria-label="Your answers">
      {props.answers.map(({ question, action, content, at }) => (
        <li key={at + question}>
          <span className="dim">{question}</span> <strong>{answerInWords(action, content)}</strong>
        </li>
      ))}
    </ul>
  )
}
