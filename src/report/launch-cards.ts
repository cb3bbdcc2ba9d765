import { shownAmount } from '../money/money.ts'
import { divide, rational, readNumber } from '../money/rational.ts'
import type { Card } from './banner.ts'
import { formatCell, formatDuration, formatNumber, formatShare } from './format.ts'
import type { Distribution, Percentile } from './summary/distribution-shape.ts'
import { failureShare, reportsAllTokens } from './summary/figures.ts'
import type { SummaryGroup } from './summary/group-shape.ts'
import type { RunSummary } from './summary/shape.ts'

/** @param closed whether part of the load is closed: its rate is no planned one, and its response time omits waiting */
export function cardsOf(all: SummaryGroup, closed: boolean): readonly Card[] {
  const {
    counts,
    metrics,
    arrivalS,
    sentPerS,
    completionTokens,
    completionTokensPerS,
    goodput,
    cachedShare,
  } = all
  const { service, response, ttft } = metrics
  const perS = `${formatNumber(sentPerS ?? 0)}/s${closed ? '; closed load: not a planned rate' : ''}`
  const share = (value: number | null) => (value === null ? '–' : `${formatShare(value)} %`)
  const tail = (['p95', 'p90', 'p50'] as const).find((name) => isTold(response[name])) ?? 'p95'
  const cards: readonly (Card | false)[] = [
    {
      label: 'Sent',
      value: formatNumber(counts.sent),
      aside: sentPerS === null ? '' : `in ${formatDuration(arrivalS ?? 0)}, ${perS}`,
    },
    {
      label: 'Unexpected failures',
      value: share(failureShare(counts)),
      aside: `${formatNumber(counts.failed)}, and ${formatNumber(counts.onPurpose)} on purpose`,
    },
    ...(goodput === null
      ? []
      : [
          {
            label: 'Goodput',
            value: `${counts.maybeGood ? '≥ ' : ''}${share(goodput)}`,
            aside: `${formatNumber(counts.good ?? 0)} of ${formatNumber(counts.judged)} met every objective${counts.maybeGood ? `; of ${formatNumber(counts.maybeGood)} it is not known` : ''}`,
          },
        ]),
    response.n > 0 && {
      label: `Response time ${tail}`,
      value: cardValue(response[tail]),
      aside: `${isTold(response.p95) ? `service time ${cardValue(service.p95)}` : samplesOf(response)}${closed ? '; closed load: waiting not included' : ''}`,
    },
    ttft.n > 0 && {
      label: 'Time to first token, median',
      value: cardValue(ttft.p50),
      aside: isTold(ttft.p95) ? `p95 ${cardValue(ttft.p95)}` : samplesOf(ttft),
    },
    cachedShare !== null && {
      label: 'Prompt tokens from a cache',
      value: share(cachedShare),
      aside: 'as the service reports',
    },
    completionTokens !== null && {
      label: 'Output tokens',
      value: formatNumber(completionTokens),
      aside:
        completionTokensPerS === null
          ? ''
          : `${reportsAllTokens(all) ? '' : '≥ '}${formatNumber(completionTokensPerS)}/s`,
    },
  ]
  return cards.filter((card) => card !== false)
}

/** What the run cost by the contract, and a request of it on average. */
export function moneyCards(money: RunSummary['money']): readonly Card[] {
  if (money === null) return []
  const { unit, spent, priced, unknown } = money
  const sum = readNumber(spent)!
  const each =
    priced === 0 ? [] : [`${shownAmount(divide(sum, rational(BigInt(priced))), unit)} a request`]
  const open = unknown === 0 ? [] : [`${formatNumber(unknown)} of unknown cost`]
  return [
    {
      label: 'Cost by the contract',
      value: shownAmount(sum, unit),
      aside: [...each, ...open].join(', '),
    },
  ]
}

const isTold = ({ mark }: Percentile) => mark !== 'none' && mark !== 'too-few'

const samplesOf = ({ n, p95 }: Distribution) =>
  `p95 needs ${p95.needs} samples; n = ${formatNumber(n)}`

function cardValue(percentile: Percentile): string {
  if (!isTold(percentile)) return 'n too small'
  return `${percentile.mark === 'at-least' ? '≥ ' : ''}${formatCell('ms', percentile.us! / 1000)} ms`
}
