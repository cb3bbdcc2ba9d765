import { type Judged, judgeAmount } from './judge.ts'
import type { PriceJudge } from './price-judge.ts'
import { isCut, type PricedRequest } from './request.ts'

/**
 * A judge to whom what nobody but the service counts is no more than other answers let expect: no thoughts before the text that came, and a
 * prompt with as many tokens for each byte as others have. Null if no answer was cut, or nothing says what to expect.
 */
export function strictJudge(
  requests: readonly PricedRequest[],
  judge: PriceJudge,
): PriceJudge | null {
  return judge.likely === undefined || !requests.some(isCut) ? null : { ...judge, isStrict: true }
}

/**
 * Amounts that the contract allows only if the service counted more than anybody sees: thoughts that it did not show, or a prompt of more
 * tokens than its text lets expect. A charge for too much would look the same.
 */
export function beyondSeen(judged: readonly Judged[], judge: PriceJudge): readonly Judged[] {
  const cut = judged.filter(
    ({ request, statement, is, expected }) =>
      is === 'open' &&
      isCut(request) &&
      statement.value.numerator > 0n &&
      expected.between !== null,
  )
  const strict = strictJudge(
    cut.map(({ request }) => request),
    judge,
  )
  return strict === null
    ? []
    : cut.filter((each) => judgeAmount(each, each.unit, strict).is === 'wrong')
}

/** Whether an amount without bounds has some, and is within them, if the service counted no more than anybody sees. */
export function isSeen(each: Judged, judge: PriceJudge): boolean {
  const strict = strictJudge([each.request], judge)
  if (strict === null) return false
  const { is, expected } = judgeAmount(each, each.unit, strict)
  return expected.between !== null && is !== 'wrong'
}

/** @param what `3 of 5 costs are` */
export const unseenText = (what: string) =>
  `${what} of answers that the client left, and right only if the service counted more than was seen: thoughts that it does not show, or a prompt of more tokens than its text lets expect`
