import { largest } from '../../user/extremes.ts'
import type { WhyPart } from '../figures/why.ts'
import { roughly } from './columns.ts'
import type { Speech } from './speech.ts'

/** More causes than that are no answer. */
const mostCauses = 2
/** Requests or tokens that are fewer times the usual ones are no reason beside another one. */
const leastCause = 1.2
/** Another cause is said if it has so much of the greatest one. */
const leastOfFirst = 0.2

/** The causes that the sentence says, the greatest first. */
export function mainParts(parts: readonly WhyPart[]): readonly WhyPart[] {
  const least =
    leastOfFirst *
    largest(
      parts.map(({ amount }) => amount),
      0,
    )
  const all = parts.filter(({ amount }) => amount > 0 && amount >= least)
  const clear = all.filter(
    (part) => (part.of !== 'requests' && part.of !== 'tokens') || timesOf(part) >= leastCause,
  )
  return (clear.length > 0 ? clear : all).slice(0, mostCauses)
}

/** A cause in a few words, and what it is now and usually; empty if the words say it. */
export interface CauseWords {
  readonly text: string
  readonly figures: string
}

/** @param hours how many hours a number of requests is of; 0: of the whole day */
export function figuresIn(part: WhyPart, unit: string, hours: number, speech: Speech): CauseWords {
  const { say, share, number } = speech
  switch (part.of) {
    case 'requests':
      return requestsIn(part, hours, speech)
    case 'tokens': {
      const [now, usual] = shown(part)
      const of = part.mostly === null ? 'why.length' : (`why.length.${part.mostly}` as const)
      return {
        text: say('why.tokens', { times: timesOf(part) }),
        figures: say(of, { now: number(now), usual: number(usual) }),
      }
    }
    case 'model': {
      const { model, instead } = part
      if (model === null) return { text: say('why.models'), figures: '' }
      return {
        text: say('why.dearer'),
        figures: instead === null ? model : say('why.instead', { now: model, usual: instead }),
      }
    }
    case 'output':
    case 'cache': {
      const shares = { share: share(part.share), usual: share(part.usual) }
      return { text: say(`why.${part.of}`), figures: say(`why.${part.of}.shares`, shares) }
    }
    case 'request':
    case 'price': {
      const [now, usual] = shown(part)
      const times = timesOf(part)
      const { model } = part
      const rates = (of: number) => ({
        now: speech.rate(unit, now * of),
        usual: speech.rate(unit, usual * of, true),
      })
      if (part.of === 'request')
        return {
          text:
            model === null
              ? say('why.request', { times })
              : say('why.request.model', { model, times }),
          figures: say('why.perRequest', rates(1)),
        }
      const figures = say('why.perMillion', rates(million))
      return model === null
        ? { text: say('why.price', { times }), figures }
        : {
            text: say('why.price.model', { model, times }),
            figures: say('why.of', { who: model, why: figures }),
          }
    }
  }
}

function requestsIn(
  part: WhyPart & { readonly of: 'requests' },
  hours: number,
  { say, number }: Speech,
): CauseWords {
  const inHours = (cause: string) => (hours === 0 ? cause : say('why.inHours', { cause, hours }))
  const now = Math.round(part.now)
  // The usual number is a mean: a few requests are told to one decimal.
  const usual = part.usual < 5 ? Math.round(10 * part.usual) / 10 : Math.round(part.usual)
  if (usual === 0)
    return { text: inHours(say('why.requests.none', { now })), figures: say('why.none') }
  return {
    text: inHours(say('why.requests', { times: roundTimes(now / usual) })),
    figures: say(hours === 0 ? 'why.count' : 'why.count.at', { now, usual: number(usual) }),
  }
}

const million = 1_000_000

/** Both as they are shown: what a reader divides is what is said. */
const shown = ({ now, usual }: { readonly now: number; readonly usual: number }) =>
  [roughly(now), roughly(usual)] as const

/** How many times the usual a cause is, of both as they are shown. */
function timesOf(part: WhyPart & { readonly now: number; readonly usual: number }): number {
  const [now, usual] = shown(part)
  return roundTimes(now / usual)
}

/** A ratio as it is said: with one digit below 10, and no less than shows that it is more than one. */
const roundTimes = (times: number) =>
  times < 10 ? Number(times.toFixed(times < leastCause ? 2 : 1)) : Math.round(times)
