import type { z } from 'zod'
import { grouped } from '../../user/grouped.ts'
import { amount, counted, duration, either, list, range, shape } from '../fields.ts'
import { mostTokens, type ThinkTime, type TokenLengths } from '../steps.ts'

const expectedTokens = `tokens, at most ${grouped(mostTokens)}`
const tokens = () => amount(expectedTokens).max(mostTokens, { error: expectedTokens })

export const tokenLengths = either(
  [
    counted(mostTokens),
    shape('uniform', {
      uniform: [
        range(counted(mostTokens), 'min and max'),
        'Any number from min to max, each as likely.',
      ],
    }),
    shape('', {
      normal: [
        shape('mean and sd', {
          mean: [tokens(), 'The mean.'],
          sd: [tokens(), 'The standard deviation.'],
        }),
        'A normal distribution.',
      ],
    }),
    shape('', { lognormal: lognormal(tokens()) }),
    shape('', {
      empirical: [
        list(counted(mostTokens), 'token counts').min(1),
        'One of these numbers, each as likely.',
      ],
    }),
  ],
  'a number of tokens, or one of { uniform: { min, max } }, { normal: { mean, sd } }, { lognormal: { median, sigma } }, { empirical: [counts] }',
).transform((lengths): TokenLengths => {
  if (typeof lengths === 'number') return { kind: 'fixed', tokens: lengths }
  if ('uniform' in lengths) return { kind: 'uniform', ...lengths.uniform }
  if ('normal' in lengths) return { kind: 'normal', ...lengths.normal }
  if ('lognormal' in lengths) return { kind: 'lognormal', ...lengths.lognormal }
  return { kind: 'empirical', samples: lengths.empirical }
})

function lognormal<Median extends z.ZodType>(median: Median) {
  return [
    shape('median, sigma', {
      median: [median, 'The median.'],
      sigma: [amount('sigma'), 'The standard deviation of the logarithm.'],
    }),
    'A lognormal distribution.',
  ] as const
}

const mean = shape('', { mean: [duration(), 'The mean.'] })

export const noTime: ThinkTime = { kind: 'fixed', us: 0 }

/** The pause of a user. */
export const think = either(
  [duration(), range(duration()), mean],
  'a think time: a duration, { min, max } for uniform, or { mean } for exponential',
).transform(timeOf)

/** The time of a tool. */
export const toolTime = either(
  [duration(), range(duration()), mean, shape('', { lognormal: lognormal(duration()) })],
  'a delay: a duration, { min, max }, { mean }, or { lognormal: { median, sigma } }',
).transform(timeOf)

function timeOf(
  written:
    | number
    | { readonly min: number; readonly max: number }
    | { readonly mean: number }
    | { readonly lognormal: { readonly median: number; readonly sigma: number } },
): ThinkTime {
  if (typeof written === 'number') return { kind: 'fixed', us: written }
  if ('mean' in written) return { kind: 'exponential', meanUs: written.mean }
  if ('min' in written) return { kind: 'uniform', minUs: written.min, maxUs: written.max }
  return { kind: 'lognormal', medianUs: written.lognormal.median, sigma: written.lognormal.sigma }
}
