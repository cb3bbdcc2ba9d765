import { defaultContract } from '../../src/contract/default.ts'
import { CustomerError } from '../../src/service/customers.ts'
import { type Act, act, balance } from './act.ts'
import type { Sender } from './stage.ts'

const long = {
  messages: [{ role: 'user', content: 'Count from 1 to 120, please.' }],
  maxTokens: 400,
}

/** Acts that need an operator: balances, keys, gifts, and the reports on accounts. */
export const accountActs = {
  exhaustion: act(
    [
      { name: 'poor', balance: 6 },
      { name: 'odd', balance: 3 },
      { name: 'burst', balance: 16 },
      { name: 'leaves', balance: 9 },
    ],
    async (stage) => {
      const [poor, odd, burst, leaves] = ['poor', 'odd', 'burst', 'leaves'].map((name) =>
        stage.sender(name),
      ) as [Sender, Sender, Sender, Sender]
      await stage.send(poor, balance)
      // The meaning of the header is open (G-12); that of a read is not.
      for (let nth = 0; nth < 8; nth++) {
        await stage.send(poor, balance)
        await stage.send(poor)
      }
      await stage.send(poor, balance)
      await stage.send(odd, balance)
      for (let nth = 0; nth < 3; nth++)
        await stage.send(odd, { model: 'svc-k2.5', endpoint: nth % 2 === 0 ? 'chat' : 'messages' })
      await stage.send(odd, balance)
      await stage.send(burst, balance)
      await stage.together(20, () => stage.send(burst, long))
      await stage.send(burst, balance)
      await stage.send(burst)
      await stage.send(burst, balance)
      // What abandoned streams cost is settled before the balance runs out.
      await stage.send(leaves, balance)
      for (let nth = 0; nth < 3; nth++) {
        await stage.send(leaves, { ...long, stream: true, abort: { at: 'first-event' } })
        // Within this read the service notices that the client is gone; the clock may jump only then.
        await stage.send(leaves, balance)
        stage.rest(2)
        await stage.send(leaves, balance)
      }
      for (let nth = 0; nth < 10; nth++) {
        await stage.send(leaves)
        await stage.send(leaves, balance)
      }
    },
    // The long answers take a second, so all twenty are requested before the first is paid.
    {
      shape: {
        timeToFirstUs: { kind: 'constant', value: 1_000 },
        betweenTokensUs: { kind: 'constant', value: 5_000 },
        lengthTokens: { kind: 'constant', value: 24 },
      },
    },
  ),
  accounts: act(
    [
      { name: 'first', balance: 2_000 },
      { name: 'second', balance: 2_000 },
    ],
    async (stage) => {
      const [first, second] = [stage.sender('first'), stage.sender('second')]
      const sibling = stage.sibling('first')
      for (const sender of [first, second]) await stage.send(sender, balance)
      for (let nth = 0; nth < 6; nth++) {
        for (const sender of [first, second, second, sibling]) await stage.send(sender)
        stage.rest(1)
      }
      await stage.together(12, (nth) => stage.send(nth % 2 === 0 ? first : sibling))
      for (const sender of [first, second]) await stage.send(sender, balance)
      // Aborted before its first token: whether that costs anything is open.
      const stopped = {
        messages: [{ role: 'user', content: 'Say: stop' }],
        body: { stop: ['stop'] },
      }
      for (const stream of [false, true]) {
        await stage.send(second, { ...stopped, stream })
        await stage.send(second, balance)
      }
      const revoked = stage.service.operator.issueKey(stage.service.keys[0]!.account, 'revoked')
      stage.service.operator.revokeKey(stage.service.keys[0]!.account, revoked)
      for (const endpoint of ['chat', 'messages'] as const) {
        await stage.send(
          { apiKey: revoked, account: 'first' },
          { endpoint },
          { expects: 'invalid-key', keyFp: null, account: null },
        )
      }
    },
  ),
  bands: act(
    [
      { name: 'band-1', balance: 90 },
      { name: 'band-2', balance: 900 },
      { name: 'band-3', balance: 9_000 },
      { name: 'band-4', balance: 50_000 },
    ],
    async (stage) => {
      for (const name of ['band-1', 'band-2', 'band-3', 'band-4']) {
        const sender = stage.sender(name)
        await stage.send(sender, balance)
        for (let nth = 0; nth < 4; nth++) await stage.send(sender)
        await stage.send(sender, { model: 'svc-k2.5' })
        await stage.send(sender, { endpoint: 'messages', stream: true })
        await stage.send(sender, balance)
      }
      // The upper-case alias must be unknown, or cost the price of its model.
      await stage.send(stage.sender('band-4'), { model: 'SVC-K2.5' })
      await stage.send(stage.sender('band-4'), balance)
    },
  ),
  usage: act([{ name: 'main', balance: 3_000 }], async (stage) => {
    const sender = stage.sender('main')
    const day = (offset: number) =>
      new Date(stage.service.operator.nowUs() / 1e3 + offset * 86_400e3).toISOString().slice(0, 10)
    const read = (path?: string) =>
      stage.send(sender, path === undefined ? balance : { ...balance, path })
    const [first, last] = [day(0), day(3)]
    await read()
    for (let nth = 0; nth < 3; nth++) await stage.send(sender, { stream: true })
    await stage.send(sender, {
      model: 'svc-k2.5',
      maxTokens: 40,
      messages: [{ role: 'user', content: 'Count from 1 to 30, please.' }],
    })
    for (let nth = 0; nth < 2; nth++) await stage.send(sender, { wrong: 'invalid-parameter' })
    await read()
    stage.rest(3 * 3600)
    for (let nth = 0; nth < 5; nth++) await stage.send(sender, { endpoint: 'messages' })
    await read()
    stage.rest(86_400)
    const middle = day(0)
    for (let nth = 0; nth < 4; nth++) await stage.send(sender, { model: 'svc-k2-thinking' })
    for (let nth = 0; nth < 2; nth++) {
      await read()
      await stage.send(sender, { endpoint: 'other', path: '/my-credits', method: 'GET' })
      await read()
      await stage.send(sender)
    }
    const { credits } = defaultContract.paths
    await read()
    await read(`${credits}?to=${middle}`)
    await read(`${credits}?from=${middle}`)
    await read(`${credits}?from=${first}&to=${last}`)
    await read(`${credits}?from=${first}&to=${middle}`)
    await read(`${credits}?from=${middle}&to=${last}`)
  }),
  bought: act([{ name: 'main', balance: 400 }], async (stage) => {
    const sender = stage.sender('main')
    const together = () =>
      stage.together(12, (nth) => stage.send(sender, { stream: nth % 2 === 0 }))
    for (let nth = 0; nth < 2; nth++) await stage.send(sender, balance)
    for (let nth = 0; nth < 6; nth++) await stage.send(sender)
    await together()
    await stage.send(sender, balance)
    // No price list has a package of this size.
    stage.service.operator.topUp(stage.service.keys[0]!.account, 777)
    stage.rest(4)
    await stage.send(sender, balance)
    await together()
    for (let nth = 0; nth < 6; nth++) await stage.send(sender)
    await stage.send(sender, balance)
  }),
  gifts: act([{ name: 'main', balance: 100 }], async (stage) => {
    const sender = stage.sender('main')
    await stage.send(sender, balance)
    await stage.send(sender)
    for (const size of [500, 50]) {
      stage.service.operator.topUp(stage.service.keys[0]!.account, size)
      // A service that paces by the old band until its next request admits the next one after 3 s.
      stage.rest(4)
      await stage.send(sender, balance)
      await stage.send(sender)
    }
    await stage.send(sender, balance)

    // The operator sets who was invited by whom; the accounts' statements show it.
    const { customers, operator } = stage.service
    const host = customers.register('host', 'host-code')
    const guest = customers.register('guest', 'guest-code', { inviteCode: 'host-code' })
    const loner = customers.register('loner', 'loner-code')
    try {
      customers.redeemInvite(loner, 'loner-code')
    } catch (error) {
      if (!(error instanceof CustomerError)) throw error
    }
    for (const bought of ['Starter', 'Standard', 'Premium']) {
      for (const account of [guest, loner]) {
        stage.rest(40)
        customers.buy(account, bought)
      }
    }
    for (const [name, account] of Object.entries({ host, guest, loner })) {
      const apiKey = operator.issueKey(account, 'ready')
      const path = `${defaultContract.paths.credits}?limit=1000`
      await stage.send({ apiKey, account: name }, { ...balance, path })
      await stage.send({ apiKey, account: name })
    }
  }),
} as const satisfies Readonly<Record<string, Act>>
