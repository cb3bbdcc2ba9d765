import fc from 'fast-check'
import type { AttemptRow } from '../../src/attempt/columns.ts'
import { flags } from '../../src/attempt/flags.ts'
import type { Objectives } from '../../src/scenario/scenario.ts'
import { attempt } from '../run/rows.ts'

/** The steps of a random run, with their requests. */
export const steps = {
  plain: { streamed: 0, expects: 'ok' },
  stream: { streamed: 1, expects: 'ok' },
  wrong: { streamed: 0, expects: 'unknown-model' },
} as const

/** Evenly distributed, because a run of extremes meets no objective. */
const us = (max: number) => fc.noBias(fc.integer({ min: 0, max }))

/** One attempt: its outcome decides which stamps it has, as in a real run. */
const oneAttempt = fc
  .record({
    step: fc.constantFrom(...(Object.keys(steps) as (keyof typeof steps)[])),
    part: fc.constantFrom('warmup', 'steady', 'steady', 'steady', 'drain'),
    outcome: fc.constantFrom(
      ...([
        'ok',
        'ok',
        'ok',
        'ok',
        'http_error',
        'broken',
        'timeout',
        'aborted',
        'not_sent',
      ] as const),
    ),
    account: fc.constantFrom('a', 'b'),
    intendedUs: us(20e6),
    lag: us(2000),
    wait: fc.option(us(5000), { freq: 9 }),
    toContent: fc.option(us(300_000), { freq: 6 }),
    content: us(400_000),
    rest: us(20_000),
    tokens: fc.option(us(40), { freq: 5 }),
    promptTokens: fc.option(us(90), { freq: 5 }),
    reasoningTokens: fc.option(us(30), { freq: 2 }),
    choices: fc.constantFrom(null, 1, 1, 2, 3),
    endpoint: fc.constantFrom('chat', 'chat', 'messages'),
    textUs: fc.option(us(800_000), { freq: 5 }),
    flags: fc.constantFrom(0, 0, flags.reasoning, flags.textInPart),
    asStream: fc.boolean(),
    endless: us(2_000_000),
    retry: fc.constantFrom(0, 0, 0, 1),
    model: fc.constantFrom('svc-k2', 'svc-k2.5'),
  })
  .map((drawn): Omit<AttemptRow, 'slot'> => {
    const { step, outcome, intendedUs } = drawn
    const { streamed, expects } = steps[step]
    const base = {
      step,
      expects,
      streamed,
      intendedUs,
      outcome,
      part: drawn.part,
      phase: drawn.part,
      account: drawn.account,
      model: drawn.model,
      retry: drawn.retry,
      status: null,
    }
    if (outcome === 'not_sent') return attempt({ ...base, reason: 'budget' })
    const dispatchedUs = intendedUs + drawn.lag
    // An attempt without a connection was not sent; only timeouts and broken attempts can be that.
    const unsent = drawn.wait === null && (outcome === 'timeout' || outcome === 'broken')
    const sentUs = unsent ? null : dispatchedUs + (drawn.wait ?? 0)
    const began = sentUs ?? dispatchedUs
    const streams = streamed === 1 && !unsent && outcome !== 'http_error'
    const withText = streams && drawn.toContent !== null
    const firstContentUs = withText ? began + drawn.toContent! : null
    const lastContentUs = withText ? firstContentUs! + drawn.content : null
    const ends = (lastContentUs ?? began + drawn.content) + drawn.rest
    // A response is handled after it has arrived.
    const closedUs = outcome === 'aborted' || outcome === 'broken' ? ends : ends + drawn.endless
    const ok = outcome === 'ok'
    return attempt({
      ...base,
      dispatchedUs,
      sentUs,
      firstContentUs,
      lastContentUs,
      firstEventUs: withText ? began + Math.floor(drawn.toContent! / 2) : null,
      events: withText ? 5 : streams && drawn.asStream ? 2 : 0,
      contentEvents: withText ? 4 : 0,
      doneUs: ok || outcome === 'http_error' ? ends : null,
      closedUs,
      completionTokens: ok ? drawn.tokens : null,
      promptTokens: ok ? drawn.promptTokens : null,
      reasoningTokens: ok ? drawn.reasoningTokens : null,
      ...{
        choices: drawn.choices,
        endpoint: drawn.endpoint,
        textUs: (lastContentUs ?? 0) > (firstContentUs ?? 0) ? drawn.textUs : null,
        flags: drawn.flags,
      },
      status: ok ? 200 : outcome === 'http_error' ? 429 : null,
      errorCode: outcome === 'http_error' ? 'rate_limit_exceeded' : null,
      reason: ok || outcome === 'http_error' ? null : 'stopped',
    })
  })

/** A small run with at least one steady attempt. */
export const randomRun = (most = 120): fc.Arbitrary<readonly AttemptRow[]> =>
  fc
    .array(oneAttempt, { minLength: 1, maxLength: most, size: 'max' })
    .map((rows) =>
      rows.map((row, slot) => ({ ...row, slot, ...(slot === 0 ? { part: 'steady' } : {}) })),
    )

// One in two is null: with a frequency of 1, all would be.
const bound = (max: number) =>
  fc.option(
    fc.oneof(
      us(max),
      fc.record({
        us: us(max),
        usPerInputToken: fc.constantFrom(0, 500.5),
        usPerOutputToken: fc.constantFrom(0, 2000),
      }),
    ),
    { freq: 2 },
  )

export const randomObjectives: fc.Arbitrary<Objectives> = fc.record({
  ttftUs: bound(300_000),
  tpotUs: bound(15_000),
  serviceUs: bound(700_000),
  responseUs: bound(700_000),
})
