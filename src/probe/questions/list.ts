import type { Question } from '../question.ts'
import { abortedPlain, abortedStreams } from './aborts.ts'
import { otherHeader } from './auth.ts'
import { bandChange, bandEdges } from './bands.ts'
import { countedClasses } from './counted.ts'
import { chargeTime, creditsBody, creditsHeader, readsCharged } from './credits.ts'
import { parameters, precedence, refusals, sizes } from './errors.ts'
import { headersShown } from './headers.ts'
import { idempotency, newKey, unaskable } from './keys.ts'
import { limiter, resetUnit } from './limiter.ts'
import { modelList, readKeys } from './models.ts'
import { ends } from './stops.ts'
import { chatStream, messagesStream, reasoning } from './streams.ts'

/**
 * All questions in the order of asking: those that others need first (how the balance is read, whether reads are
 * free), those that change the balance or use up limits late, those that look back over all responses last.
 */
export const questions: readonly Question[] = [
  modelList,
  readKeys,
  creditsBody,
  readsCharged,
  otherHeader,
  messagesStream,
  chatStream,
  reasoning,
  ends,
  creditsHeader,
  chargeTime,
  countedClasses,
  abortedStreams,
  abortedPlain,
  refusals,
  sizes,
  parameters,
  idempotency,
  newKey,
  resetUnit,
  limiter,
  bandChange,
  bandEdges,
  precedence,
  unaskable,
  headersShown,
]
