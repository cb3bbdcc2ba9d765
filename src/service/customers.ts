import type { Credits, Package } from '../contract/contract.ts'
import type { Behaviour, Kit } from './behaviour.ts'
import { Chance } from './chance.ts'

/** A completed payment. */
export interface Purchase {
  readonly atUs: number
  readonly package: string
  readonly credits: Credits
  readonly priceUsdCents: number
  /** Null if the credits never expire. */
  readonly expiresUs: number | null
  /** The balance right after the payment. */
  readonly balance: Credits
}

export type Field = 'email' | 'password' | 'invite' | 'name' | 'timezone'

/** An error in a form and its field; null if it concerns no single field. */
export interface FormIssue {
  readonly summary: string
  readonly field: Field | null
}

export class CustomerError extends Error {
  override readonly name = 'CustomerError'
  /** All errors, in the order of the form. */
  readonly issues: readonly FormIssue[]

  constructor(issues: string | readonly FormIssue[], field: Field | null = null) {
    const all = typeof issues === 'string' ? [{ summary: issues, field }] : issues
    super(all.map(({ summary }) => summary).join(' '))
    this.issues = all
  }
}

export class UnknownInvite extends CustomerError {}

/**
 * The events of an account besides requests: registration with free credits, invitation and
 * payment. Rewards and packages are the contract's (§1.5, §1.6). No money moves.
 */
export class Customers {
  readonly #kit: Kit
  readonly #behaviour: Behaviour

  constructor(kit: Kit, behaviour: Behaviour) {
    this.#kit = kit
    this.#behaviour = behaviour
  }

  /**
   * Opens an account with the free credits and rewards the owner of the invite code.
   *
   * @param ownCode the invite code of the new account
   * @throws CustomerError for a taken name or an unknown code
   */
  register(
    name: string,
    ownCode: string,
    more: { readonly inviteCode?: string; readonly passwordHash?: string } = {},
  ): number {
    const { accounts, contract, ledger } = this.#kit
    if (accounts.byName(name) !== null) throw new CustomerError(`The name "${name}" is taken.`)
    const inviter = more.inviteCode === undefined ? null : this.#inviter(more.inviteCode)
    const account = accounts.add(name, ownCode, { passwordHash: more.passwordHash ?? null })
    ledger.move(account, contract.grants.newAccount, 'grant', 'free credits')
    if (inviter !== null) this.#invited(account, inviter)
    return account
  }

  /**
   * Enters an invite code after registration, once.
   *
   * @throws CustomerError if the account was invited before or the code is its own
   */
  redeemInvite(account: number, inviteCode: string): void {
    const { accounts, random } = this.#kit
    const inviter = this.#inviter(inviteCode)
    const invitee = accounts.byId(account)
    if (invitee === null) throw new CustomerError(`There is no account ${account}.`)
    if (invitee.invitedBy !== null)
      throw new CustomerError(
        'An invite code was entered before; one account has one inviter.',
        'invite',
      )
    if (!this.#behaviour.inviteAllowed(new Chance(random), inviter, account)) {
      throw new CustomerError(
        'This invite code is your own: an account cannot invite itself.',
        'invite',
      )
    }
    this.#invited(account, inviter)
  }

  /**
   * Buys a package. The payment is simulated.
   *
   * @throws CustomerError for a package that the contract does not have
   */
  buy(account: number, packageName: string): Purchase {
    const { accounts, clock, contract, ledger, random } = this.#kit
    const bought = contract.packages.find((each) => each.name === packageName)
    if (bought === undefined) {
      const names = contract.packages.map((each) => each.name).join(', ')
      throw new CustomerError(`Expected one of ${names}; got "${packageName.slice(0, 40)}".`)
    }
    const chance = new Chance(random)
    const paymentsBefore = accounts.countPayment(account)
    const atUs = clock.nowUs()
    const expiresUs = this.#behaviour.packageExpiryUs(chance, bought, atUs)
    const { name, credits, priceUsdCents } = bought
    const { after } = ledger.move(account, credits, 'purchase', name, { expiresUs })
    const inviter = accounts.byId(account)?.invitedBy ?? null
    const reward = this.#behaviour.paymentReward(chance, paymentsBefore)
    if (inviter !== null && reward > 0) {
      ledger.move(inviter, reward, 'grant', 'first payment of an invited account')
    }
    return { atUs, package: name, credits, priceUsdCents, expiresUs, balance: after }
  }

  #inviter(code: string): number {
    const inviter = this.#kit.accounts.byInviteCode(code)
    if (inviter === null) throw new UnknownInvite('Nobody has this invite code.', 'invite')
    return inviter.id
  }

  #invited(account: number, inviter: number): void {
    const { accounts, ledger, random } = this.#kit
    accounts.setInviter(account, inviter)
    const reward = this.#behaviour.inviteReward(new Chance(random))
    ledger.move(inviter, reward, 'grant', 'registration by invite code')
  }
}

/** When credits bought now expire: `validMonths` later, and no later than the end of that month. */
export function expiryUs({ validMonths }: Package, nowUs: number): number | null {
  if (validMonths === null) return null
  const now = new Date(nowUs / 1000)
  const then = new Date(now)
  then.setUTCMonth(now.getUTCMonth() + validMonths)
  if (then.getUTCDate() !== now.getUTCDate()) then.setUTCDate(0)
  return then.getTime() * 1000
}
