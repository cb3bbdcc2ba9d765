import { expect } from 'vitest'
import { type Check, check, operated } from './check.ts'

export const accessChecks: readonly Check[] = [
  check('AUTH-01', 'chat takes Authorization: Bearer', async (t) => {
    expect((await t.chat()).status).toBe(200)
  }),
  check('AUTH-02', 'messages takes X-API-Key', async (t) => {
    expect((await t.messages()).status).toBe(200)
  }),
  check('AUTH-03', 'without a key a request is refused, streamed or not', async (t) => {
    const { chat, messages } = t.contract.paths
    for (const path of [chat, messages]) {
      for (const stream of [false, true]) {
        for (const headers of [{}, { authorization: 'Bearer ' }, { 'x-api-key': '' }]) {
          const body = { model: 'svc-k2', max_tokens: 5, stream, messages: [] }
          expect((await t.send('POST', path, { body, headers })).status).toBe(401)
        }
      }
    }
  }),
  check('AUTH-04', 'a key that differs in any way is refused', async (t) => {
    const { key } = t.address
    const flipped = key.slice(0, -1) + (key.endsWith('a') ? 'b' : 'a')
    const folded = key.toUpperCase() === key ? key.toLowerCase() : key.toUpperCase()
    for (const wrong of [flipped, key.slice(0, -1), `${key}a`, folded, 'sk-unknown']) {
      for (const stream of [false, true]) {
        expect((await t.chat({ stream }, wrong)).status).toBe(401)
        expect((await t.messages({ stream, model: 'svc-k2.5' }, wrong)).status).toBe(401)
      }
    }
  }),
  check('AUTH-05', 'a wrong key has the code and type of its format', async (t) => {
    expect((await t.chat({}, 'wrong')).json.error).toMatchObject({
      code: 'invalid_api_key',
      type: 'invalid_request_error',
    })
    expect((await t.messages({}, 'wrong')).json).toMatchObject({
      type: 'error',
      error: { type: 'authentication_error' },
    })
  }),
  operated('AUTH-06', "one account's key never moves another's balance", async (t) => {
    const [one, two] = [await t.account(500), await t.account(500)]
    for (let request = 0; request < 3; request++) {
      await t.chat({}, one.key)
      await t.messages({ model: 'svc-k2.5' }, two.key)
    }
    expect([await t.remaining(one.key), await t.remaining(two.key)]).toEqual([497, 494])
  }),
  check('MODEL-01', 'the list is an object with data', async (t) => {
    const { status, json } = await t.models()
    expect(status).toBe(200)
    expect(json.object).toBe('list')
    expect(Array.isArray(json.data)).toBe(true)
  }),
  check('MODEL-02', 'each model has the fields of a model', async (t) => {
    for (const model of (await t.models()).json.data) {
      expect(model).toMatchObject({ object: 'model', root: model.id, parent: null })
      expect(typeof model.owned_by).toBe('string')
      expect(Array.isArray(model.permission)).toBe(true)
      expect(Number.isInteger(model.created)).toBe(true)
      expect(model.created).toBeGreaterThan(1_600_000_000)
      expect(model.created).toBeLessThan(2_600_000_000)
    }
  }),
  check('MODEL-03', 'each listed model is listed once', async (t) => {
    const ids = (await t.models()).json.data.map(({ id }: { id: string }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    for (const { id, listed } of t.contract.models) if (listed) expect(ids).toContain(id)
  }),
  check('MODEL-04', 'every model works in both formats', async (t) => {
    for (const { id } of t.contract.models) {
      expect((await t.chat({ model: id })).status).toBe(200)
      expect((await t.messages({ model: id })).status).toBe(200)
    }
  }),
  check('MODEL-05', 'an unknown model is model_not_found', async (t) => {
    const { status, json } = await t.chat({ model: `svc-${Math.random()}` })
    expect([400, 404]).toContain(status)
    expect(json.error).toMatchObject({ code: 'model_not_found', type: 'invalid_request_error' })
    expect([400, 404]).toContain((await t.messages({ model: 'SVC-K2' })).status)
  }),
]
