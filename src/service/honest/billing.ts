import { creditsBody } from '../answers/credits-body.ts'
import type { Behaviour, Kit, Usage } from '../behaviour.ts'
import type { Call } from '../call.ts'
import { expiryUs } from '../customers.ts'
import type { ChargeNote } from '../ledger/ledger.ts'

type BillingBehaviour = Pick<
  Behaviour,
  | 'available'
  | 'price'
  | 'affords'
  | 'reserve'
  | 'settle'
  | 'release'
  | 'onLeave'
  | 'creditsHeader'
  | 'creditsReport'
  | 'creditsBody'
  | 'chargeRead'
  | 'pageReport'
  | 'packageExpiryUs'
  | 'inviteReward'
  | 'paymentReward'
  | 'inviteAllowed'
>

export function honestBilling({ contract, profile, ledger, usage }: Kit): BillingBehaviour {
  const atStart = profile.charge === 'start'
  return {
    available(call) {
      if (call.key === null) return 0
      const { balance, held } = ledger.balance(call.key.accountId)
      return balance - held
    },
    price: (call) => call.model?.costCredits ?? 1,
    affords: (call) => call.available >= call.price,
    reserve(call) {
      const accountId = call.key!.accountId
      if (!atStart) return ledger.reserve(accountId, call.price)
      const charged = ledger.charge(accountId, call.price, 0, noteOf(call))
      if (charged === null) return null
      call.entry = charged.entry
      return charged.after - ledger.balance(accountId).held
    },
    settle(call, usage) {
      const accountId = call.key!.accountId
      if (call.entry !== null) ledger.noteTokens(accountId, call.entry, noteOf(call, usage))
      else ledger.charge(accountId, call.price, call.price, noteOf(call, usage))
    },
    release(call) {
      const accountId = call.key!.accountId
      if (atStart)
        ledger.move(accountId, call.price, 'refund', 'failed request', { charge: noteOf(call) })
      else ledger.release(accountId, call.price)
    },
    onLeave(call) {
      const stream = call.request?.stream === true
      const policy = stream ? profile.abortedStream : profile.abortedPlain
      return policy === 'charged' || (policy === 'after-first-token' && call.piecesSent > 0)
        ? 'settle'
        : 'release'
    },
    creditsHeader(call, credits) {
      if (call.request?.stream === true && !profile.creditsHeaderOnStreams) return null
      return String(credits)
    },
    packageExpiryUs: (_chance, bought, nowUs) => expiryUs(bought, nowUs),
    inviteReward: () => contract.grants.inviteRegistration,
    paymentReward: (_chance, paymentsBefore) =>
      paymentsBefore === 0 ? contract.grants.inviteFirstPayment : 0,
    inviteAllowed: (_chance, inviter, invitee) => inviter !== invitee,
    creditsBody: (_call, report) => creditsBody(report, profile.creditsBody),
    chargeRead: () => true,
    pageReport: (_call, accountId, query) => usage.of(accountId, query),
    creditsReport: (call) => usage.of(call.key!.accountId, call.incoming.query),
  }
}

/** The ledger's note about a call. */
export function noteOf(call: Call, usage: Usage | null = null): ChargeNote {
  return {
    keyId: call.key!.id,
    requestId: call.incoming.id,
    endpoint: call.endpoint,
    model: call.model?.id ?? '',
    stream: call.request?.stream ?? false,
    promptTokens: usage?.promptTokens ?? call.promptTokens,
    completionTokens: usage?.completionTokens ?? 0,
  }
}
