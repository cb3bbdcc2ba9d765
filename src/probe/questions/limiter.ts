import { windowUs } from '../../contract/contract.ts'
import type { GapAnswer } from '../../contract/profile.ts'
import { largest } from '../../user/extremes.ts'
import { headerTimeS } from '../../user/header-time.ts'
import { pricesOf } from '../prices.ts'
import type { ProbeResponse } from '../probe-response.ts'
import type { Prober } from '../prober.ts'
import { answered, notAskable, type Question } from '../question.ts'
import { algorithmOf } from './algorithm.ts'
import { askWhenFull } from './when-full.ts'

/** Requests sent well before the others. */
const earlyOnes = 3
/** A limit up to this is used up a second time. */
const refillUpTo = 60
/** A bucket regains some while it is emptied: so many times the limit are sent, and a few more. */
const overLimit = { times: 1.4, more: 4 }
/** Polls after the burst: so many for each request that a bucket regains, over so many times a window. */
const polls = { perToken: 2, windows: 1.2 }
/** Admissions after which polls end. */
const enoughAdmitted = 12
/** Charged beside the limit, used up twice: early requests, admitted polls, and what is regained meanwhile. */
const chargedBeside = 20
const secondUs = 1e6

/**
 * G-22; while the limit is used up also G-32 and the 429 part of G-18 and G-26.
 *
 *     rest 2 W ─▶ three ─▶ rest W/6 ─▶ in a row until rejected ─▶ rest 4 W/N ─▶ one ─▶ polls
 *
 * Which limiter admits what:
 *
 *     three, then all others    a log frees these three first, W after each; windows free all at once
 *     one after 4 W/N           a bucket has regained four; a window whose limit is one too low is still full
 *     polls                     show the pace at which requests are admitted again
 *
 * If windows may begin with the first request or with the clock, a second window decides.
 */
export const limiter: Question = {
  gaps: ['G-22', 'G-32'],
  price({ contract, minuteLimit }) {
    const most = minuteLimit ?? largest(contract.bands.map((band) => band.requests.minute))
    const again = minuteLimit !== null && minuteLimit <= refillUpTo ? minuteLimit : 0
    return (2 * most + chargedBeside + again) * pricesOf(contract).least
  },
  obstacle: ({ contract }) =>
    contract.bands.length === 0 ? 'the contract names no rate limits' : null,
  async ask(prober) {
    const limit = await prober.minuteLimit()
    if (limit === null) {
      const why = 'neither a header nor the balance shows the limit'
      return { 'G-22': notAskable(why), 'G-32': notAskable(why) }
    }
    const began = prober.limited.length
    await useUpOnce(prober, limit)
    const algorithm = algorithmOf(prober, began, limit)
    const canRepeat = limit <= refillUpTo && prober.options.budget.left >= limit + 5
    if (!canRepeat) return { 'G-22': algorithm, 'G-32': retryAfterOf(prober.responses) }
    const isFixed =
      algorithm.status === 'ambiguous' &&
      algorithm.between.algorithm?.every((name) => name.startsWith('fixed-'))
    if (isFixed) await askSecondWindow(prober, began, limit)
    else await useUpForAuditor(prober, limit)
    return {
      'G-22': isFixed ? algorithmOf(prober, began, limit) : algorithm,
      'G-32': retryAfterOf(prober.responses),
    }
  },
}

/** One request, which is not sent again if it is rejected. */
const ask = (prober: Prober): Promise<ProbeResponse> =>
  prober.chat({ maxTokens: 1 }, { patient: false, expects: 'any', step: 'limiter' })

/** How long a bucket takes to regain one request, in the service's time. */
const tokenUsOf = (limit: number): number => windowUs.minute / limit

async function useUpOnce(prober: Prober, limit: number): Promise<void> {
  const tokenUs = tokenUsOf(limit)
  await prober.rest(2 * windowUs.minute + secondUs)
  for (let nth = 0; nth < earlyOnes; nth++) await ask(prober)
  await prober.rest(windowUs.minute / 6)
  let rejected = 0
  let last: ProbeResponse | null = null
  for (let nth = 0; nth < overLimit.times * limit + overLimit.more && rejected < 2; nth++) {
    last = await ask(prober)
    if (last.status === 429) rejected++
  }
  if (last?.status === 429)
    prober.whenFull = await askWhenFull(prober, last, tokenUs / prober.options.timeScale)
  await prober.rest(4 * tokenUs)
  await ask(prober)
  let admitted = 0
  const most = Math.ceil(polls.windows * limit * polls.perToken)
  for (let nth = 0; nth < most && admitted < Math.min(limit, enoughAdmitted); nth++) {
    await prober.rest(tokenUs / polls.perToken)
    if ((await ask(prober)).status === 200) admitted++
  }
}

async function useUpAgain(prober: Prober, limit: number): Promise<void> {
  for (let nth = 0; nth < limit + 2 && (await ask(prober)).status !== 429; nth++);
}

/** The first request's window reopened together with the clock's. Beginning half a window later separates them. */
async function askSecondWindow(prober: Prober, began: number, limit: number): Promise<void> {
  const serviceUs = prober.now() * prober.options.timeScale
  const intoUs = (serviceUs - prober.limited[began]!.fromUs) % windowUs.minute
  await prober.rest(((1.5 * windowUs.minute - intoUs) % windowUs.minute) + windowUs.minute)
  await useUpAgain(prober, limit)
  const most = polls.windows * limit * polls.perToken
  for (let nth = 0; nth < most && (await ask(prober)).status === 429; nth++)
    await prober.rest(tokenUsOf(limit) / polls.perToken)
}

/** Uses up the limit, and sends one request after its reset: only the audit reads them. */
async function useUpForAuditor(prober: Prober, limit: number): Promise<void> {
  await useUpAgain(prober, limit)
  await prober.rest(windowUs.minute + 2 * tokenUsOf(limit) + secondUs)
  await ask(prober)
}

/** G-32: the Retry-After of the rejections so far. */
export function retryAfterOf(
  responses: readonly Pick<ProbeResponse, 'status' | 'headers'>[],
): GapAnswer {
  const rejections = responses.filter(({ status }) => status === 429)
  if (rejections.length === 0) return notAskable('nothing was rejected')
  const values = rejections.map(({ headers }) => headers.get('retry-after') ?? null)
  const forms = [...new Set(values.map(formOf))]
  return answered(
    { form: forms.length === 1 ? forms[0]! : forms },
    `${rejections.length} rejections, such as ${values[0] ?? 'none'}`,
  )
}

function formOf(retryAfter: string | null): 'none' | 'seconds' | 'date' | 'other' {
  if (retryAfter === null) return 'none'
  if (/^\d+$/.test(retryAfter)) return 'seconds'
  return Number.isNaN(headerTimeS(retryAfter)) ? 'other' : 'date'
}
