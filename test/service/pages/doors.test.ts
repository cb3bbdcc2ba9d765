import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { dayUs, openHouse } from './customer.ts'

describe('access to the pages', () => {
  test('a form without the token of its session changes nothing', async () => {
    const { visitor } = await openHouse()
    const ada = visitor()
    await ada.register('ada@example.com')
    const page = await ada.post('/dashboard/buy', { package: 'Starter', order: 'x' })
    expect(page.status).toBe(403)
    expect(await ada.balance()).toBe(100)
  })

  test('only the usage page and its figures may be framed, and only by the origins of the setting', {
    tags: 'whole',
  }, async () => {
    const policyAt = async (frameOrigins: readonly string[], path: string) => {
      const { visitor, target } = await openHouse({ frameOrigins })
      const ada = visitor()
      await ada.register('ada@example.com')
      if (path !== '/user/credits') {
        const { headers } = await ada.get(path)
        return /frame-ancestors [^;]*/.exec(headers.get('content-security-policy')!)![0]
      }
      const { headers } = await fetch(`${target.service.baseUrl}${path}`)
      return headers.get('content-security-policy')
    }
    const origins = ['https://app.example.com', 'http://localhost:3000']
    const listed = 'frame-ancestors https://app.example.com http://localhost:3000'
    expect(await policyAt(origins, '/my-credits')).toBe(listed)
    expect(await policyAt(origins, '/user/credits')).toBe(listed)
    // A form in a frame could be clicked unseen.
    expect(await policyAt(origins, '/dashboard')).toBe("frame-ancestors 'none'")
    expect(await policyAt([], '/my-credits')).toBe("frame-ancestors 'none'")
    expect(await policyAt([], '/user/credits')).toBe(null)
  })

  test.each([
    ['another origin', { origin: 'https://evil.example' }],
    ['another port of this machine', { 'sec-fetch-site': 'same-site' }],
    ['a page that hides its origin', { origin: 'null' }],
  ])('a form from %s is refused, even with the right token', async (_, headers) => {
    const { visitor } = await openHouse()
    const ada = visitor()
    await ada.register('ada@example.com')
    const { text } = await ada.get('/dashboard')
    const token = /name="token" value="([^"]+)"/.exec(text)?.[1] ?? ''
    const fields = { token, package: 'Starter', order: 'x' }
    const page = await ada.post('/dashboard/buy', fields, headers)
    expect(page.status).toBe(403)
    expect(await ada.balance()).toBe(100)
  })

  test('the cookie is not accessible to scripts or other sites', async () => {
    const { target } = await openHouse()
    const answer = await fetch(`${target.service.baseUrl}/register`, {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams({ email: 'ada@example.com', password: 'long enough' }),
    })
    expect(answer.headers.get('set-cookie')).toMatch(/; Path=\/; HttpOnly; SameSite=Strict$/)
  })

  test('behind a TLS proxy, the cookie is sent over TLS only', async () => {
    const { target } = await openHouse()
    const answer = await fetch(`${target.service.baseUrl}/register`, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'x-forwarded-proto': 'https' },
      body: new URLSearchParams({ email: 'ada@example.com', password: 'long enough' }),
    })
    expect(answer.headers.get('set-cookie')).toMatch(/; SameSite=Strict; Secure$/)
  })

  test('pages load nothing from elsewhere, run nothing inline, and are not cached', async () => {
    const { visitor } = await openHouse()
    const { headers } = await visitor().get('/sign-in')
    const policy = headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toContain('unsafe')
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('access-control-allow-origin')).toBeNull()
  })

  test('after five wrong passwords for an account, the sixth try must wait, right or wrong', {
    tags: 'whole',
  }, async () => {
    const { visitor, clock } = await openHouse()
    await visitor().register('ada@example.com')
    await visitor().register('bob@example.com')
    const guess = (email: string, password: string) =>
      visitor().post('/sign-in', { email, password })
    for (let tries = 0; tries < 5; tries++) {
      expect((await guess('ada@example.com', 'wrong')).status).toBe(401)
    }
    const sixth = await guess(' Ada@example.com', 'long enough')
    expect(sixth.status).toBe(429)
    expect(sixth.headers.get('retry-after')).toBe('900')
    expect(sixth.text).toContain('Try again in 15 minutes.')
    expect((await guess('bob@example.com', 'long enough')).status).toBe(200)
    clock.advance(14 * 60e6)
    expect((await guess('ada@example.com', 'long enough')).headers.get('retry-after')).toBe('60')
    clock.advance(60e6)
    expect((await guess('ada@example.com', 'long enough')).status).toBe(200)
  })

  test('behind a trusted proxy each client has its own tries; otherwise they share one address', {
    tags: 'whole',
  }, async () => {
    for (const [trustProxy, owner] of [
      [true, 200],
      [false, 429],
    ] as const) {
      const { visitor } = await openHouse({ trustProxy })
      await visitor().register('ada@example.com')
      const guess = (password: string, forwarded: string) =>
        visitor().post(
          '/sign-in',
          { email: 'ada@example.com', password },
          { 'x-forwarded-for': forwarded },
        )
      for (let tries = 0; tries < 5; tries++) {
        // The address that the client wrote itself does not count.
        expect((await guess('wrong', `198.51.100.${tries}, 203.0.113.7`)).status).toBe(401)
      }
      expect((await guess('wrong', '203.0.113.7')).status).toBe(429)
      expect((await guess('long enough', '203.0.113.8')).status).toBe(owner)
    }
  })

  test('wrong keys and wrong invite codes each have a limit per address', {
    tags: 'whole',
  }, async () => {
    const { visitor, clock } = await openHouse()
    const ada = visitor()
    await ada.register('ada@example.com')
    const key = await ada.makeKey()
    const code = await ada.inviteCode()
    const signIn = (by: string) => visitor().post('/sign-in', { key: by })
    for (let tries = 0; tries < 20; tries++) {
      expect((await signIn(`sk-svc-${tries}`)).status).toBe(401)
      expect((await visitor().register(`${tries}@example.com`, `code-${tries}`)).status).toBe(400)
    }
    const refused = await signIn(key)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '900'])
    expect(refused.text).toContain('Too many wrong keys from here. Try again in 15 minutes.')
    expect((await visitor().register('bob@example.com', code)).status).toBe(429)
    const bob = visitor()
    expect((await bob.register('bob@example.com')).status).toBe(200)
    const redeemed = await bob.send('/dashboard/invite', { invite: code })
    expect(redeemed.status).toBe(429)
    expect(redeemed.text).toContain('Too many wrong invite codes from here.')
    clock.advance(15 * 60e6)
    expect((await signIn(key)).status).toBe(200)
    expect((await bob.send('/dashboard/invite', { invite: code })).status).toBe(200)
  })

  test('right keys and codes do not count as tries', { tags: 'whole' }, async () => {
    const { visitor } = await openHouse()
    const ada = visitor()
    await ada.register('ada@example.com')
    const key = await ada.makeKey()
    const code = await ada.inviteCode()
    for (let times = 0; times < 25; times++) {
      expect((await visitor().post('/sign-in', { key })).status).toBe(200)
      expect((await visitor().register(`${times}@example.com`, code)).status).toBe(200)
    }
  })

  test('a right password resets the count of wrong ones, and concurrent guesses all count', {
    tags: 'whole',
  }, async () => {
    const { visitor } = await openHouse()
    await visitor().register('ada@example.com')
    const guess = (password: string) =>
      visitor().post('/sign-in', { email: 'ada@example.com', password })
    for (let round = 0; round < 2; round++) {
      for (let tries = 0; tries < 4; tries++) expect((await guess('wrong')).status).toBe(401)
      expect((await guess('long enough')).status).toBe(200)
    }
    const together = await Promise.all(Array.from({ length: 8 }, () => guess('wrong')))
    expect(together.map(({ status }) => status).sort()).toEqual([
      ...Array.from({ length: 5 }, () => 401),
      ...Array.from({ length: 3 }, () => 429),
    ])
  })

  test('a key gives access only to the usage of its account', async () => {
    const { visitor } = await openHouse()
    const ada = visitor()
    await ada.register('ada@example.com')
    const key = await ada.makeKey()
    const reader = visitor()
    await reader.post('/sign-in', { key })
    expect((await reader.get('/dashboard')).status).toBe(403)
  })

  test('a usage page that was opened with a key closes when the key is revoked', async () => {
    const { visitor } = await openHouse()
    const ada = visitor()
    await ada.register('ada@example.com')
    const key = await ada.makeKey()
    const reader = visitor()
    expect((await reader.post('/sign-in', { key })).text).toContain('<h1>My credits</h1>')
    const { text } = await ada.get('/dashboard')
    await ada.send('/dashboard/keys/revoke', {
      key: /name="key" value="(\d+)"/.exec(text)?.[1] ?? '',
    })
    expect((await reader.get('/my-credits')).text).toContain('<h1>Sign in</h1>')
  })

  test('a session that is used stays open, and one that is idle for 90 days ends', async () => {
    const { visitor, clock } = await openHouse()
    const ada = visitor()
    await ada.register('ada@example.com')
    for (let visit = 0; visit < 3; visit++) {
      clock.advance(80 * dayUs)
      expect((await ada.get('/dashboard')).text).toContain('<h1>Dashboard</h1>')
    }
    clock.advance(90 * dayUs)
    expect((await ada.get('/dashboard')).text).toContain('<h1>Sign in</h1>')
  })

  test('passwords, keys and sessions are not in the file in plain text', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'assay-pages-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const { visitor, target } = await openHouse({ dataPath: join(folder, 'ledger.db') })
    const ada = visitor()
    await ada.register('ada@example.com')
    const key = await ada.makeKey()
    const secret = ada.cookie.split('=')[1] ?? ''
    await target.service.close()
    const bytes = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'latin1'))
    expect(bytes.join('')).toContain('ada@example.com')
    for (const hidden of [key, secret, 'long enough']) expect(bytes.join('')).not.toContain(hidden)
  })

  test('other paths keep the errors of the API', async () => {
    const { target } = await openHouse()
    for (const [method, path] of [
      ['GET', '/'],
      ['GET', '/dashboard/'],
      ['DELETE', '/dashboard'],
      ['GET', '/pages/../pages.ts'],
      ['POST', '/my-credits'],
    ] as const) {
      const answer = await fetch(target.service.baseUrl + path, { method })
      expect([path, answer.status]).toEqual([path, 404])
      expect(await answer.json()).toMatchObject({ error: { type: 'invalid_request_error' } })
      expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    }
  })

  test('a page can be requested with HEAD', async () => {
    const { target } = await openHouse()
    const answer = await fetch(`${target.service.baseUrl}/sign-in`, { method: 'HEAD' })
    expect([answer.status, await answer.text()]).toEqual([200, ''])
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
  })

  test('a browser that opens the root address is redirected to the dashboard', async () => {
    const { visitor } = await openHouse()
    expect((await visitor().get('/')).text).toContain('<h1>Sign in</h1>')
  })
})
