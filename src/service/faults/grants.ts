import { type Fault, fault } from './fault.ts'

/** Credits that an account is given, and how long they last. */
export const grantFaults: readonly Fault[] = [
  fault(
    'reward-on-every-payment',
    'BILL-18',
    'every payment of an invitee pays 500',
    (_honest, { contract }) => ({ paymentReward: () => contract.grants.inviteFirstPayment }),
  ),
  fault('invite-bonus-doubled', 'BILL-18', 'an invitation pays 100', (_honest, { contract }) => ({
    inviteReward: () => 2 * contract.grants.inviteRegistration,
  })),
  fault('self-invite', 'BILL-18', 'an account may invite itself', () => ({
    inviteAllowed: () => true,
  })),
  fault('starter-expires', 'BILL-19', 'Starter expires after a month', (honest) => ({
    packageExpiryUs: (chance, bought, nowUs) =>
      honest.packageExpiryUs(chance, { ...bought, validMonths: bought.validMonths ?? 1 }, nowUs),
  })),
  fault('expired-spendable', 'BILL-19', 'credits can be spent after they expired', () => ({
    packageExpiryUs: () => null,
  })),
]
