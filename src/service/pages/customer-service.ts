import { readFileSync } from 'node:fs'
import type { Kit } from '../behaviour.ts'
import {
  CustomerError,
  type Customers,
  type FormIssue,
  type Purchase,
  UnknownInvite,
} from '../customers.ts'
import { makeSecret } from '../keys.ts'
import type { Account, ApiKey } from '../ledger/accounts.ts'
import { fitsPassword, hashPassword } from './passwords.ts'

/** A payment on a receipt. */
export type Payment = Omit<Purchase, 'balance'>

interface Registration {
  readonly email: string
  readonly password: string
  /** As typed; blank if there is none. */
  readonly inviteCode: string
}

export const shortestPassword = 8
export const longestText = 200
/** One page shows all keys of an account. */
const mostKeys = 50

/** Checks what customers enter into forms, and carries it out. */
export class CustomerService {
  readonly #kit: Kit
  readonly #customers: Customers
  readonly #statements

  constructor(kit: Kit, customers: Customers) {
    this.#kit = kit
    this.#customers = customers
    const { sql } = kit.database
    sql.exec(
      readFileSync(new URL('../../../src/service/pages/schema.sql', import.meta.url), 'utf8'),
    )
    this.#statements = {
      pay: sql.prepare(
        `INSERT INTO payments (account_id, order_id, at_us, package, credits, price_cents, expires_us)
         VALUES (?, ?, ?, ?, ?, ?, ?)`,
      ),
      order: sql.prepare('SELECT * FROM payments WHERE account_id = ? AND order_id = ?'),
      payments: sql.prepare('SELECT * FROM payments WHERE account_id = ? ORDER BY id DESC'),
      invited: sql.prepare('SELECT count(*) AS invited FROM accounts WHERE invited_by = ?'),
    }
  }

  /**
   * Opens an account with the free credits and rewards the owner of the invite code.
   *
   * @throws CustomerError with every error of the form
   */
  async register({ email, password, inviteCode }: Registration): Promise<number> {
    const { accounts } = this.#kit
    const name = email.trim().toLowerCase()
    const issues: FormIssue[] = []
    if (!/^[^\s@]+@[^\s@]+$/.test(name) || name.length > longestText) {
      issues.push({
        summary: 'Expected an e-mail address, such as ada@example.com.',
        field: 'email',
      })
    }
    const length = [...password].length
    const isAllowed = length >= shortestPassword && length <= longestText
    if (!isAllowed) {
      const summary = `Expected a password of ${shortestPassword} to ${longestText} characters; got ${length}.`
      issues.push({ summary, field: 'password' })
    }
    const passwordHash = isAllowed ? await hashPassword(password) : ''
    // Nothing below waits, so no other registration can come in between.
    if (accounts.byName(name) !== null) {
      const summary = 'An account with that address exists. Sign in instead.'
      issues.push({ summary, field: 'email' })
    }
    const code = inviteCode.trim()
    const unknown = code !== '' && accounts.byInviteCode(code) === null
    const inviteFault = unknown
      ? `There is no invite code "${code.slice(0, 40)}". Correct it, or leave it out.`
      : this.#isOwn(code, name)
        ? ownCode
        : null
    if (inviteFault !== null) issues.push({ summary: inviteFault, field: 'invite' })
    if (unknown) throw new UnknownInvite(issues)
    if (issues.length > 0) throw new CustomerError(issues)
    const invite = code === '' ? {} : { inviteCode: code }
    const inviteCodeOfNew = makeSecret('', 10, null)
    return this.#customers.register(name, inviteCodeOfNew, { ...invite, passwordHash })
  }

  /**
   * Enters an invite code after registration, once.
   *
   * @throws CustomerError for an unknown code, a second one, or one's own, also of another address of one's mailbox
   */
  redeem(accountId: number, inviteCode: string): void {
    const code = inviteCode.trim()
    const { accounts } = this.#kit
    const isOfOther = accounts.byInviteCode(code)?.id !== accountId
    if (isOfOther && this.#isOwn(code, accounts.byId(accountId)?.name ?? '')) {
      throw new CustomerError(ownCode, 'invite')
    }
    this.#customers.redeemInvite(accountId, code)
  }

  /** Whether a person registers with their own code, perhaps with another address of one mailbox. */
  #isOwn(code: string, newcomer: string): boolean {
    const inviter = this.#kit.accounts.byInviteCode(code)
    return inviter !== null && mailbox(inviter.name) === mailbox(newcomer)
  }

  /** The account if the password is right. Null takes as long, so that timing reveals no names. */
  async signIn(email: string, password: string): Promise<Account | null> {
    const account = this.#kit.accounts.byName(email.trim().toLowerCase())
    // A letter may be two units. What is cut is longer than any password, so it fits none.
    const given = password.slice(0, 2 * longestText)
    const fits = await fitsPassword(given, account?.passwordHash ?? null)
    return fits && given === password ? account : null
  }

  /**
   * Takes a simulated payment. A repeated order changes nothing.
   *
   * @throws CustomerError for a package that is not for sale
   */
  buy(accountId: number, packageName: string, orderId: string): Payment {
    const known = this.#statements.order.get(accountId, orderId)
    if (known !== undefined) return paymentOf(known)
    if (!this.#kit.contract.packages.some(({ name }) => name === packageName)) {
      throw new CustomerError(`There is no package "${packageName.slice(0, 40)}".`)
    }
    const paid = this.#customers.buy(accountId, packageName)
    const { atUs, package: name, credits, priceUsdCents, expiresUs } = paid
    this.#kit.database.write()
    this.#statements.pay.run(accountId, orderId, atUs, name, credits, priceUsdCents, expiresUs)
    return paid
  }

  /** Payments, the newest first. */
  payments(accountId: number): readonly Payment[] {
    return this.#statements.payments.all(accountId).map(paymentOf)
  }

  /** Number of accounts that registered with the account's code. */
  invited(accountId: number): number {
    return Number(this.#statements.invited.get(accountId)?.invited)
  }

  /**
   * Makes a key. Only the result has its text.
   *
   * @throws CustomerError for an invalid name or too many keys
   */
  makeKey(accountId: number, name: string): { readonly key: string; readonly record: ApiKey } {
    const { accounts } = this.#kit
    const trimmed = name.trim()
    if (trimmed === '' || [...trimmed].length > 60) {
      throw new CustomerError(
        'Expected a name of 1 to 60 characters, by which you recognize the key.',
        'name',
      )
    }
    if (this.liveKeys(accountId).length >= mostKeys) {
      throw new CustomerError(`An account holds at most ${mostKeys} keys. Revoke one first.`)
    }
    const key = makeSecret('sk-svc-', 40, null)
    return { key, record: accounts.addKey(accountId, trimmed, key) }
  }

  liveKeys(accountId: number): readonly ApiKey[] {
    return this.#kit.accounts.keysOf(accountId).filter(({ revokedUs }) => revokedUs === null)
  }
}

type Row = Readonly<Record<string, unknown>>

function paymentOf(row: Row): Payment {
  return {
    atUs: Number(row.at_us),
    package: String(row.package),
    credits: Number(row.credits),
    priceUsdCents: Number(row.price_cents),
    expiresUs: row.expires_us === null ? null : Number(row.expires_us),
  }
}

const ownCode = 'This invite code is your own. It is for other people.'

/** The mailbox of an address: `ada+two@example.com` is `ada@example.com`. */
const mailbox = (email: string): string => email.toLowerCase().replace(/\+[^@]*@/, '@')
