import { expect, test } from 'vitest'
import { probeFake } from './fake-api.ts'

const secret = 'pk-portkey-0123456789abcdef'
const header = {
  ...{ name: 'x-portkey-api-key', value: secret },
  ...{ shown: '$PORTKEY_API_KEY', isSecret: true },
}

test('a gateway gets its own header with each request, and the store does not keep its value', async () => {
  const echo = (heard: { headers: object }) => JSON.stringify(heard.headers)
  const heardBy = new Set<string>()
  const { store, answers } = await probeFake(
    {
      status: (heard) => {
        if (heard.headers['x-portkey-api-key'] !== secret) return 400
        heardBy.add(heard.endpoint)
        return heard.endpoint === 'messages' && heard.body.max_tokens === 1 ? 400 : 200
      },
      errorText: echo,
    },
    ['G-02', 'G-16'],
    [header],
  )
  expect(heardBy).toEqual(new Set(['models', 'credits', 'chat', 'messages']))
  expect(answers['G-16']).toMatchObject({ is: { 'one token': 'charged' } })
  const kept = await Promise.all(
    ['templates', 'bodies', 'attempts'].map((table) => store.rows(`SELECT * FROM ${table}`)),
  )
  const text = JSON.stringify(kept, (_, value) =>
    typeof value === 'bigint' ? Number(value) : (value as unknown),
  )
  expect(text).toContain('$PORTKEY_API_KEY')
  expect(text).not.toContain('0123456')
})
