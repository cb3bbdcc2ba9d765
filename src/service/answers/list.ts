import type { Behaviour, Kit } from '../behaviour.ts'
import type { AnswerLayer } from './answer.ts'
import { emptyAnswers } from './empty-answers.ts'
import { inheritedCounts } from './inherited-counts.ts'
import { messagesStream } from './messages-stream.ts'
import { pricedReads } from './priced-reads.ts'

const layers: readonly AnswerLayer[] = [messagesStream, emptyAnswers, pricedReads, inheritedCounts]

/** The honest behaviour, with the profile's answers in place of the defaults. */
export function withAnswers(honest: Behaviour, kit: Kit): Behaviour {
  let behaviour = honest
  for (const layer of layers) behaviour = { ...behaviour, ...layer(behaviour, kit) }
  return behaviour
}
