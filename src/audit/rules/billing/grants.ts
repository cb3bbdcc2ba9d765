import type { Package } from '../../../contract/contract.ts'
import type { Promising } from '../../../contract/promises.ts'
import { dayMs } from '../../../user/durations.ts'
import { smallest } from '../../../user/extremes.ts'
import { counted } from '../../../user/grouped.ts'
import { headerTimeS } from '../../../user/header-time.ts'
import { billingRule, witnessOf } from '../../evidence/balances.ts'
import { giftsOf, sumsOf } from '../../evidence/billing/gifts.ts'
import { nearGift } from '../../evidence/billing/gifts-in-reading.ts'
import { shownBy } from '../../evidence/exchange.ts'
import {
  fail,
  inconclusive,
  notesOf,
  notObserved,
  pass,
  untested,
  type Verdict,
  type Witness,
} from '../../verdict.ts'
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

/** Judges statements of accounts: `judge` says an issue, null without one, undefined if the statement is silent. */
function judgeStatements(
  statements: readonly AccountStatement[],
  judge: (statement: AccountStatement) => string | null | undefined,
): { readonly judged: number; readonly wrong: Witness | null } {
  let judged = 0
  for (const statement of statements) {
    const observed = judge(statement)
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
    const { grants: promised } = evidence.contract
    const { judged, wrong } = judgeStatements(await statementsOf(evidence), (statement) =>
      judgeRewards(statement, promised),
    )
    if (wrong !== null)
      return fails('one reward for the first payment of each invited account', judged, wrong)
    const sizes = Object.values(promised)
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
  grants: Promising<'grants'>['grants'],
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
  // A reward may be of a kind such as `first_payment_bonus`.
  const purchases = movements.filter((each) => isPurchase(each) && !isGrant(each))
  const own = rewards.find(({ atMs }) => purchases.some((each) => Math.abs(each.atMs - atMs) <= 1))
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
tolerance of a day), and no credits may remain a day after that. If that purchase is not among the changes that
the endpoint lists, the pass says that the time was not tested.`,
  async decideBy(readings, evidence): Promise<Verdict> {
    const { contract } = evidence
    const statements = await statementsOf(evidence)
    const lotsOf = (statement: AccountStatement) => packageLots(statement, contract.packages)
    const { judged, wrong } = judgeStatements(statements, (statement) => {
      const lots = lotsOf(statement)
      return lots.length === 0
        ? undefined
        : (lots.find(({ wrong }) => wrong !== null)?.wrong ?? null)
    })
    if (wrong !== null) return fails('packages that expire as the price list says', judged, wrong)
    const packages = contract.packages.map((each) => each.credits)
    const gifts = giftsOf(contract).filter((size) => size > 0)
    const [leastGift, sums] = [smallest(gifts), sumsOf(gifts)]
    const large = rises(readings).filter(({ gained }) => gained * 2 > leastGift)
    const odd = large.filter(({ gained }) => !sums.includes(gained))
    const near = odd.find(({ gained }) => sums.some((size) => Math.abs(gained - size) <= nearGift))
    if (near !== undefined)
      return fail(large.length, {
        expected: `a rise by a package or grant: ${gifts.join(', ')}`,
        observed: `a rise by ${near.gained}`,
        witnesses: [witnessOf(near.reading, near.stretch.to, `${near.gained} more than before`)],
      })
    const [far] = odd
    if (far !== undefined) {
      const { reading, stretch, gained } = far
      const fits =
        gained === reading.unnamedPurchase ? 'Without that rise every value fits, so ' : ''
      return inconclusive(
        large.length,
        `account ${reading.history.account}: the balance rose by ${gained}, which no charge, package or grant explains. ${fits}${fits === '' ? 'Credits' : 'credits'} were added by hand, or wrongly.`,
        [witnessOf(reading, stretch.to, `${gained} more than before`)],
      )
    }
    const bought = large.filter(({ gained }) => packages.includes(gained)).length
    if (judged + bought === 0)
      return notObserved(
        'a purchase during the run, and a list of what expires when at the credits endpoint',
      )
    const lots = statements.flatMap(lotsOf)
    const wordsOf = ({ name }: PackageLot) => `how long ${name} is valid`
    const timed = lots.filter(({ isTimed }) => isTimed).map(wordsOf)
    return pass(
      judged + bought,
      notesOf(
        judged === 0 ? 'Expiry was not seen.' : undefined,
        untested([...new Set(lots.map(wordsOf))], timed),
      ),
    )
  },
})

interface PackageLot {
  /** Of the package. */
  readonly name: string
  readonly wrong: string | null
  /** Whether its expiry was compared with the time of its purchase; true of a package without an expiry. */
  readonly isTimed: boolean
}

function packageLots(
  statement: AccountStatement,
  packages: readonly Package[],
): readonly PackageLot[] {
  return statement.lots.flatMap((lot) => {
    const named = packages.find(
      ({ name, credits }) =>
        credits === lot.credits && lot.source.toLowerCase().includes(name.toLowerCase()),
    )
    if (named === undefined) return []
    return [{ name: named.name, wrong: null, isTimed: true, ...judgeLot(lot, named, statement) }]
  })
}

function judgeLot(
  { expiresMs, remaining }: Lot,
  { name, credits, validMonths }: Package,
  { movements, isWhole, report }: AccountStatement,
): Partial<PackageLot> {
  if (validMonths === null) return expiresMs === null ? {} : { wrong: `${name} that expires` }
  if (expiresMs === null) return { wrong: `${name} that never expires` }
  const nowMs = headerTimeS(report.exchange.header('date') ?? '') * 1000
  if (expiresMs + dayMs < nowMs && (remaining ?? 0) > 0)
    return { wrong: `${name} left after its expiry` }
  const [shortest, longest] = [28 * validMonths - 1, 31 * validMonths + 1]
  const dates = movements.filter((each) => isPurchase(each) && each.credits === credits)
  const fits = dates.some(({ atMs }) => {
    const days = (expiresMs - atMs) / dayMs
    return days >= shortest && days <= longest
  })
  if (fits) return {}
  // A list of the latest changes alone may begin behind its purchase.
  const isListed =
    isWhole || expiresMs - longest * dayMs >= smallest(movements.map(({ atMs }) => atMs))
  return dates.length > 0 && isListed
    ? { wrong: `${name} not valid for ${counted(validMonths, 'month')}` }
    : { isTimed: false }
}
