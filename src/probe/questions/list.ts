import type { Question } from '../question.ts'
import { abortedPlain, abortedStreams } from './aborts.ts'
import { otherHeader } from './auth.ts'
import { bandChange, bandEdges } from './bands.ts'
import { countedClasses } from './counted.ts'
import { chargeTime, creditsBody, creditsHeader, readsCharged } from './credits.ts'
import { parameters, precedence, refusals, sizes } from './errors.ts'
import { headersShown } from './headers.ts'
import { idempotency, newKey, unaskable } from './keys.ts'
import { limiter } from './limiter.ts'
import { modelList, readKeys } from './models.ts'
import { resetUnit } from './reset-unit.ts'
import { ends } from './stops.ts'
import { chatStream, messagesStream, reasoning } from './streams.ts'

/** All questions in the order of asking: what others need first, what moves the balance or uses up limits late, what looks back last. */
export const questions: readonly Question[] = [
  ...[modelList, readKeys, creditsBody, readsCharged, otherHeader, messagesStream, chatStream],
  ...[reasoning, ends, creditsHeader, chargeTime, countedClasses, abortedStreams, abortedPlain],
  ...[refusals, sizes, parameters, idempotency, newKey, resetUnit, limiter, bandChange],
  ...[bandEdges, precedence, unaskable, headersShown],
]
