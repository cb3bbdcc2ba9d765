import type { Package } from '../../../contract/contract.ts'
import type { PromiseName, Promising } from '../../../contract/promises.ts'
import { dayMs } from '../../../user/durations.ts'
import { smallest } from '../../../user/extremes.ts'
import { headerTimeS } from '../../../user/header-time.ts'
import { billingRule, witnessOf } from '../../evidence/balances.ts'
import { giftsOf, sumsOf } from '../../evidence/billing/gifts.ts'
import { nearGift } from '../../evidence/billing/gifts-in-reading.ts'
import { shownBy } from '../../evidence/exchange.ts'
import type { Evidence } from '../../rule.ts'
import { fail, inconclusive, notObserved, pass, type Verdict, type Witness } from '../../verdict.ts'
import { type AccountStatement, type Lot, type Movement, statementsOf } from './statement.ts'
import { clearStretches } from './stretches.ts'

function rises(readings: Parameters<typeof clearStretches>[0]) {
  return clearStretches(readings)
    .filter(
      ({ stretch: { excess, taken }, reading }) =>
        excess < 0 && (taken < 0 || -excess === reading.unnamedPurchase),
    )
    .map((seen) => ({ ...seen, gained: -seen.stretch.excess }))
}

/** Judges the statements of accounts: `judge` says an issue, null without one, undefined if the statement is silent. */
async function judgeStatements<P extends PromiseName>(
  evidence: Evidence<P>,
  judge: (statement: AccountStatement, contract: Promising<P>) => string | null | undefined,
): Promise<{ readonly judged: number; readonly wrong: Witness | null }> {
  let judged = 0
  for (const statement of await statementsOf(evidence)) {
    const observed = judge(statement, evidence.contract)
    if (observed === undefined) continue
    judged++
    if (observed !== null) return { judged, wrong: shownBy(statement.report.exchange, observed) }
  }
  return { judged, wrong: null }
}

const fails = (expected: string, observations: number, wrong: Witness): Verdict =>
  fail(observations, { expected, observed: wrong.shows, witnesses: [wrong] })

export const bill18 = billingRule({
  id: 'BILL-18',
  title: 'Grants have their size: a new account, an invitation, its first payment',
  section: '§1.4, §1.5',
  needs: ['time'],
  promised: ['grants'],
  explain: `Recognises grants by the size of a rise between idle values. If the credits endpoint lists
every change of the balance (they add up to it), the rule also checks these. A grant for a registration
with an invite code must have its size (the first grant of an account may be that of a new account). There
must be no more rewards for a first payment than invited accounts, and none within 1 ms of the account's
own purchase, because that rewards a self-invite. Only the operator knows who was invited.`,
  async decideBy(readings, evidence): Promise<Verdict> {
    const { judged, wrong } = await judgeStatements(evidence, judgeRewards)
    if (wrong !== null)
      return fails('one reward for the first payment of each invited account', judged, wrong)
    const sizes = Object.values(evidence.contract.grants)
    const grants = rises(readings).filter(({ gained }) => sizes.includes(gained))
    const observations = judged + grants.length
    return observations > 0
      ? pass(observations, { note: 'Whether each was due is not seen from outside.' })
      : notObserved('a grant during the run, or a list of all changes at the credits endpoint')
  },
})

const isGrant = ({ kind }: Movement) => /grant|reward|bonus|invit|referr/i.test(kind)
const isPurchase = ({ kind }: Movement) => /purchase|payment|package|top.?up/i.test(kind)

/** A grant for a registration by invite. A reward for a first payment mentions the payment. */
const isForInvitation = (each: Movement) =>
  isGrant(each) &&
  /invit|referr/i.test(each.words) &&
  /regist|sign.?up|join/i.test(each.words) &&
  !/pa(?:id|yment)/i.test(each.words)

function judgeRewards(
  { movements, isWhole }: AccountStatement,
  { grants }: Promising<'grants'>,
): string | null | undefined {
  if (!isWhole) return undefined
  // The grant of a new account may have the same words.
  const odd = movements.find(
    (each, at) =>
      isForInvitation(each) &&
      each.credits !== grants.inviteRegistration &&
      !(at === 0 && each.credits === grants.newAccount),
  )
  if (odd !== undefined) return `${odd.credits} credits for a registration by invite code`
  const invited = movements.filter(
    (each) => isGrant(each) && each.credits === grants.inviteRegistration,
  )
  // Gifts of the same size for other reasons do not count.
  const isReward = (each: Movement) =>
    isGrant(each) &&
    each.credits === grants.inviteFirstPayment &&
    /pa(?:id|yment)/i.test(each.words)
  const rewards = movements.filter(isReward)
  if (rewards.length > invited.length)
    return `${rewards.length} rewards for a first payment, ${invited.length} invited`
  const own = rewards.find((reward) => {
    const at = movements.indexOf(reward)
    return [movements[at - 1], movements[at + 1]].some(
      (next) => next !== undefined && isPurchase(next) && Math.abs(next.atMs - reward.atMs) <= 1,
    )
  })
  if (own !== undefined) return `${own.credits} credits for its own payment`
  return invited.length > 0 ? null : undefined
}

export const bill19 = billingRule({
  id: 'BILL-19',
  title: 'A package adds its credits; Starter never expires, the others after a month',
  section: '§1.6',
  needs: ['time'],
  promised: ['packages'],
  explain: `Recognises purchases by the size of a rise between idle values. A rise is wrong if it is more
than half the smallest package or grant, and not a sum of up to three of them, but within 20 credits of such a sum.
Credits of another size may have been added by hand: that is inconclusive. If the credits endpoint
lists the remaining credits of each purchase with their expiry, a package without an expiry must have
none. Any other must expire the right number of months after its purchase (28 to 31 days each, with a
tolerance of a day), and no credits may remain a day after that.`,
  async decideBy(readings, evidence): Promise<Verdict> {
    const { contract } = evidence
    const { judged, wrong } = await judgeStatements(evidence, judgeLots)
    if (wrong !== null) return fails('packages that expire as the price list says', judged, wrong)
    const packages = contract.packages.map((each) => each.credits)
    const gifts = giftsOf(contract).filter((size) => size > 0)
    const [leastGift, sums] = [smallest(gifts), sumsOf(gifts)]
    const large = rises(readings).filter(({ gained }) => gained * 2 > leastGift)
    const odd = large.find(({ gained }) => !sums.includes(gained))
    const isNear = (size: number) => odd !== undefined && Math.abs(odd.gained - size) <= nearGift
    if (odd !== undefined && !sums.some(isNear)) {
      const { reading, stretch, gained } = odd
      const fits =
        gained === reading.unnamedPurchase ? 'Without that rise every value fits, so ' : ''
      return inconclusive(
        large.length,
        `account ${reading.history.account}: the balance rose by ${gained}, which no charge, package or grant explains. ${fits}${fits === '' ? 'Credits' : 'credits'} were added by hand, or wrongly.`,
        [witnessOf(reading, stretch.to, `${gained} more than before`)],
      )
    }
    if (odd !== undefined)
      return fail(large.length, {
        expected: `a rise by a package or grant: ${gifts.join(', ')}`,
        observed: `a rise by ${odd.gained}`,
        witnesses: [witnessOf(odd.reading, odd.stretch.to, `${odd.gained} more than before`)],
      })
    const bought = large.filter(({ gained }) => packages.includes(gained)).length
    if (judged + bought === 0)
      return notObserved(
        'a purchase during the run, and a list of what expires when at the credits endpoint',
      )
    return pass(judged + bought, judged === 0 ? { note: 'Expiry was not seen.' } : {})
  },
})

function judgeLots(
  statement: AccountStatement,
  { packages }: Promising<'packages'>,
): string | null | undefined {
  const bought = statement.lots.flatMap((lot) => {
    const named = packages.find(
      ({ name, credits }) =>
        credits === lot.credits && lot.source.toLowerCase().includes(name.toLowerCase()),
    )
    return named === undefined ? [] : [judgeLot(lot, named, statement)]
  })
  return bought.length === 0 ? undefined : (bought.find((observed) => observed !== null) ?? null)
}

function judgeLot(
  { expiresMs, remaining }: Lot,
  { name, credits, validMonths }: Package,
  { movements, report }: AccountStatement,
): string | null {
  if (validMonths === null) return expiresMs === null ? null : `${name} that expires`
  if (expiresMs === null) return `${name} that never expires`
  const nowMs = headerTimeS(report.exchange.header('date') ?? '') * 1000
  if (expiresMs + dayMs < nowMs && (remaining ?? 0) > 0) return `${name} left after its expiry`
  const dates = movements.filter((each) => isPurchase(each) && each.credits === credits)
  const fits = dates.some(({ atMs }) => {
    const days = (expiresMs - atMs) / dayMs
    return days >= 28 * validMonths - 1 && days <= 31 * validMonths + 1
  })
  return dates.length === 0 || fits
    ? null
    : `${name} valid for another time than ${validMonths} months`
}
