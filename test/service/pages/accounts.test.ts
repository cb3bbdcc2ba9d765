import { describe, expect, test } from 'vitest'
import type { ProfileAnswers } from '../../../src/service/profile.ts'
import { dayUs, openHouse } from './customer.ts'

describe('accounts', () => {
  test('a new account has 100 credits and no key', async () => {
    const { visitor } = await openHouse()
    const ada = visitor()
    const page = await ada.register('ada@example.com')
    expect(page.status).toBe(200)
    expect(page.text).toContain('No key. Make one')
    expect(await ada.balance()).toBe(100)
  })

  test('e-mail address and password sign in again, and a wrong password does not', async () => {
    const { visitor } = await openHouse()
    const first = visitor()
    await first.register('ada@example.com')
    const ada = visitor()
    const wrong = await ada.post('/sign-in', { email: 'ada@example.com', password: 'long enougH' })
    expect(wrong.status).toBe(401)
    expect(wrong.headers.get('set-cookie')).toBeNull()
    const right = await ada.post('/sign-in', { email: 'Ada@Example.com ', password: 'long enough' })
    expect(right.text).toContain('<h1>Dashboard</h1>')
  })

  test.each([
    ['not an address', 'ada', 'long enough', 'Expected an e-mail address'],
    ['a short password', 'ada@example.com', 'seven77', 'Expected a password of 8 to 200'],
    ['an unknown invite code', 'ada@example.com', 'long enough', 'There is no invite code'],
  ])('registration refuses %s and keeps the address', async (what, email, password, summary) => {
    const { visitor } = await openHouse()
    const invite = what.includes('invite') ? 'nobodys' : ''
    const page = await visitor().post('/register', { email, password, invite })
    expect(page.status).toBe(400)
    expect(page.text).toContain(summary)
    expect(page.text).toContain(`value="${email}"`)
  })

  test('an address has one account', async () => {
    const { visitor } = await openHouse()
    await visitor().register('ada@example.com')
    const again = await visitor().register('ADA@example.com')
    expect(again.status).toBe(400)
    expect(again.text).toContain('An account with that address exists')
  })

  test('signing out ends the session, not only the cookie', async () => {
    const { visitor, target } = await openHouse()
    const ada = visitor()
    await ada.register('ada@example.com')
    const stolen = ada.cookie
    await ada.send('/sign-out', {})
    const page = await fetch(`${target.service.baseUrl}/dashboard`, {
      redirect: 'manual',
      headers: { cookie: stolen },
    })
    expect(page.status).toBe(303)
    expect(page.headers.get('location')).toBe('/sign-in')
  })
})

describe('API keys', () => {
  test('a key works from the moment it is made and is refused from the moment it is revoked', async () => {
    const { visitor, target } = await openHouse()
    const ada = visitor()
    await ada.register('ada@example.com')
    const key = await ada.makeKey()
    expect((await target.chat({}, key)).status).toBe(200)
    const { text } = await ada.get('/dashboard')
    const id = /name="key" value="(\d+)"/.exec(text)?.[1] ?? ''
    const revoked = await ada.send('/dashboard/keys/revoke', { key: id })
    expect(revoked.text).toContain('is revoked')
    expect((await target.chat({}, key)).status).toBe(401)
    expect(await ada.balance()).toBe(99)
  })

  test('a key is shown once', async () => {
    const { visitor } = await openHouse()
    const ada = visitor()
    await ada.register('ada@example.com')
    const key = await ada.makeKey()
    expect(key).toMatch(/^sk-svc-\w{40}$/)
    const again = await ada.get('/dashboard')
    expect(again.text).not.toContain(key)
    expect(again.text).toContain(`sk-svc-…${key.slice(-4)}`)
  })

  test('two keys made before the next page, and what happened beside them, are all on it', async () => {
    const { visitor, target } = await openHouse()
    const ada = visitor()
    const { text } = await ada.register('ada@example.com')
    const token = /name="token" value="([^"]+)"/.exec(text)?.[1] ?? ''
    const order = { package: 'Starter', order: 'one' }
    for (const [path, fields] of [
      ['keys', { name: 'laptop' }],
      ['buy', order],
      ['keys', { name: 'phone' }],
    ] as const) {
      await fetch(`${target.service.baseUrl}/dashboard/${path}`, {
        ...{ method: 'POST', redirect: 'manual' },
        headers: { cookie: ada.cookie, origin: target.service.baseUrl },
        body: new URLSearchParams({ token, ...fields }),
      })
    }
    const page = await ada.get('/dashboard')
    expect(page.text).toContain('Your new key “laptop”')
    expect(page.text).toContain('Your new key “phone”')
    expect(page.text).toContain('credits of Starter are yours')
    expect((await ada.get('/dashboard')).text).not.toContain('Your new key')
  })

  test('a key of another account cannot be revoked', async () => {
    const { visitor, target } = await openHouse()
    const [ada, eve] = [visitor(), visitor()]
    await ada.register('ada@example.com')
    await eve.register('eve@example.com')
    const key = await ada.makeKey()
    const { text } = await ada.get('/dashboard')
    const id = /name="key" value="(\d+)"/.exec(text)?.[1] ?? ''
    const tried = await eve.send('/dashboard/keys/revoke', { key: id })
    expect(tried.status).toBe(400)
    expect((await target.chat({}, key)).status).toBe(200)
  })

  test('a name that looks like markup is shown as text', async () => {
    const { visitor } = await openHouse()
    const ada = visitor()
    await ada.register('ada@example.com')
    const { text } = await ada.send('/dashboard/keys', { name: '<script>alert(1)</script>"\u202e' })
    expect(text).not.toContain('<script>alert')
    expect(text).toContain('&#60;script&#62;alert(1)&#60;/script&#62;&#34;\ufffd')
  })
})

describe('invites (BILL-18)', () => {
  test('an inviter gets 50 credits at registration, 500 at the first payment, nothing at the second', async () => {
    const { visitor } = await openHouse()
    const [ada, bob] = [visitor(), visitor()]
    await ada.register('ada@example.com')
    await bob.register('bob@example.com', await ada.inviteCode())
    expect(await ada.balance()).toBe(150)
    expect(await bob.balance()).toBe(100)
    await bob.buy('Starter')
    expect(await ada.balance()).toBe(650)
    await bob.buy('Starter')
    expect(await ada.balance()).toBe(650)
    expect(await bob.balance()).toBe(1100)
  })

  test("another address of the same mailbox cannot use the owner's invite code", async () => {
    const { visitor } = await openHouse()
    const ada = visitor()
    await ada.register('ada@example.com')
    const second = await visitor().register('Ada+second@example.com', await ada.inviteCode())
    expect(second.status).toBe(400)
    expect(second.text).toContain('This invite code is your own')
    expect(await ada.balance()).toBe(100)
    await visitor().register('ada+third@example.com')
    const third = visitor()
    await third.post('/sign-in', { email: 'ada+third@example.com', password: 'long enough' })
    const later = await third.send('/dashboard/invite', { invite: await ada.inviteCode() })
    expect(later.text).toContain('This invite code is your own')
    expect(await ada.balance()).toBe(100)
  })

  test('a password of 200 characters that take two units each signs in', async () => {
    const { visitor } = await openHouse()
    const password = '🔑'.repeat(200)
    await visitor().post('/register', { email: 'ada@example.com', password, invite: '' })
    const signedIn = await visitor().post('/sign-in', { email: 'ada@example.com', password })
    expect(signedIn.text).toContain('<h1>Dashboard</h1>')
  })

  test('a code can be entered later, once, and not by its owner', async () => {
    const { visitor } = await openHouse()
    const [ada, bob] = [visitor(), visitor()]
    await ada.register('ada@example.com')
    await bob.register('bob@example.com')
    const invite = await ada.inviteCode()
    expect((await ada.send('/dashboard/invite', { invite })).text).toContain('is your own')
    expect((await bob.send('/dashboard/invite', { invite })).text).toContain('has been rewarded')
    expect((await bob.send('/dashboard/invite', { invite })).text).toContain('entered before')
    expect(await ada.balance()).toBe(150)
  })

  test('the payment of an account without an inviter rewards nobody', async () => {
    const { visitor } = await openHouse()
    const [ada, bob] = [visitor(), visitor()]
    await ada.register('ada@example.com')
    await bob.register('bob@example.com')
    await bob.buy('Starter')
    expect(await ada.balance()).toBe(100)
  })
})

describe('packages (BILL-19)', () => {
  test.each([
    ['Starter', 500],
    ['Standard', 5_000],
    ['Premium', 20_000],
  ])('%s adds %i credits', async (name, credits) => {
    const { visitor } = await openHouse()
    const ada = visitor()
    await ada.register('ada@example.com')
    await ada.buy(name)
    expect(await ada.balance()).toBe(100 + credits)
  })

  test('an order that is sent twice is one payment', async () => {
    const { visitor } = await openHouse()
    const ada = visitor()
    await ada.register('ada@example.com')
    await ada.buy('Starter', 'order-1')
    await ada.buy('Starter', 'order-1')
    expect(await ada.balance()).toBe(600)
  })

  test('a month later, on the last day of a shorter month, Standard has expired and Starter has not', async () => {
    const { visitor, clock } = await openHouse()
    const ada = visitor()
    await ada.register('ada@example.com')
    await ada.buy('Standard')
    await ada.buy('Starter')
    // Bought on 31 January at noon: valid until 28 February at noon.
    clock.advance(28 * dayUs - 1)
    expect(await ada.balance()).toBe(5_600)
    clock.advance(1)
    expect(await ada.balance()).toBe(600)
  })

  test('the dashboard shows all credits that expire on the next expiry date', async () => {
    const { visitor, clock } = await openHouse()
    const ada = visitor()
    await ada.register('ada@example.com')
    const aside = async () =>
      /([\d,]+ expire on [^<]+|none of them expire)</.exec((await ada.get('/dashboard')).text)?.[1]
    expect(await aside()).toBe('none of them expire')
    await ada.buy('Premium')
    clock.advance(60e6)
    await ada.buy('Standard')
    expect(await aside()).toBe('25,000 expire on 28 Feb 2026 (UTC)')
    clock.advance(dayUs)
    await ada.buy('Standard')
    expect(await aside()).toBe('25,000 expire on 28 Feb 2026 (UTC)')
  })

  test('expiring credits are spent first, and expired credits cannot be spent', async () => {
    const { visitor, clock, target } = await openHouse()
    const ada = visitor()
    await ada.register('ada@example.com')
    const key = await ada.makeKey()
    await ada.buy('Standard')
    for (let sent = 0; sent < 3; sent++) await target.chat({}, key)
    expect(await ada.balance()).toBe(5_097)
    clock.advance(28 * dayUs)
    // All three were taken from Standard: the 100 free credits are untouched.
    expect(await ada.balance()).toBe(100)
    const answer = await target.chat({}, key)
    expect(answer.headers.get('x-credits-remaining')).toBe('99')
  })

  test('a package that is not for sale is refused', async () => {
    const { visitor } = await openHouse()
    const ada = visitor()
    await ada.register('ada@example.com')
    const page = await ada.buy('Enterprise')
    expect(page.status).toBe(400)
    expect(page.text).toContain('There is no package &#34;Enterprise&#34;')
  })
})

test('limits and the order of spending follow the profile, also at a shared edge', async () => {
  const shown = async (profile: ProfileAnswers) => {
    const { target, visitor } = await openHouse({ profile })
    const ada = visitor()
    await ada.register('ada@example.com')
    const { operator } = target.service
    operator.setBalance(operator.accountNamed('ada@example.com')!, 10_000)
    const { text } = await ada.get('/dashboard')
    return [
      /for each key<\/dt><dd>(\d+)</.exec(text)?.[1],
      /[^.>]* are spent first/.exec(text)?.[0].trim(),
    ]
  }
  expect(await shown({})).toEqual(['500', 'Credits that expire soonest are spent first'])
  expect(await shown({ sharedEdge: 'lower', burnOrder: 'purchase' })).toEqual([
    '200',
    'The oldest credits are spent first',
  ])
})
