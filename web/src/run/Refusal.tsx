import type { ReactNode } from 'react'

import type { Asked } from '../api.ts'
import { useAsk } from '../asking/ask.ts'
import { useDatabase } from '../database.ts'
import type { Choice, Refusal } from '../types.ts'

/** A question that could not be grounded: what was understood, what not, and what to try. */
export function RefusalPanel(props: { refusal: Refusal }): ReactNode {
  const { refusal } = props
  const database = useDatabase()
  return (
    <section className="panel tone-warn" aria-label="Not answered">
      <p className="said">{refusal.text}</p>
      <dl>
        <Words name="Understood" words={refusal.understood} />
        <Words name="Not understood" words={refusal.not_understood} strong />
        <Words name="Tables there are" words={refusal.tables} />
        <Words name="What can be measured" words={refusal.measures} />
      </dl>
      <TryThese
        choices={(database?.examples ?? []).map((question) => ({ label: question, question }))}
        title="Try one of these"
      />
    </section>
  )
}

/** The translator asks back: each choice is a question to ask instead. */
export function QuestionBack(props: { back: { text: string; choices: Choice[] }; asked: Asked | null }): ReactNode {
  return (
    <section className="panel tone-warn" aria-label="A question back">
      <p className="said">{props.back.text}</p>
      <TryThese choices={props.back.choices} asked={props.asked} title="Which shall it be?" />
    </section>
  )
}

function Words(props: { name: string; words: string[] | undefined; strong?: boolean }): ReactNode {
  if (!props.words?.length) return null
  return (
    <div>
      <dt>{props.name}</dt>
      <dd>
        {props.words.map((word) => (
          <span key={word} className={props.strong ? 'word strong' : 'word'}>
            {word}
          </span>
        ))}
      </dd>
    </div>
  )
}

function TryThese(props: { choices: Choice[]; asked?: Asked | null; title: string }): ReactNode {
  const ask = useAsk()
  if (props.choices.length === 0) return null
  const take = ({ question, confirm_cost }: Choice): void => {
    if (question) void ask.send({ question })
    else if (confirm_cost && props.asked) void ask.send(props.asked, { confirm_cost })
  }
  return (
    <>
      <h2>{props.title}</h2>
      <ul className="examples">
        {props.choices.map((choice) => (
          <li key={choice.label}>
            <button type="button" disabled={ask.sending} onClick={() => take(choice)}>
              {choice.label}
            </button>
          </li>
        ))}
      </ul>
      <p className="problem" role="alert">
        {ask.problem}
      </p>
    </>
  )
}
