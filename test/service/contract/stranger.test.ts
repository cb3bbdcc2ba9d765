import { afterAll, beforeAll, describe, test } from 'vitest'
import { defaultContract } from '../../../src/contract/default.ts'
import { assay, type Running } from '../../e2e/command.ts'
import { checks } from './checks.ts'
import { Target } from './target.ts'

/**
 * The rules from outside: another process, an address and two keys, without an operator for its
 * balances or its clock.
 */
describe('a service in its own process', () => {
  let serving: Running
  let target: Target

  beforeAll(async () => {
    serving = assay(['serve', '--port', '0', '--json', '--ttft', '0ms', '--itl', '0ms'])
    const { baseUrl, keys } = JSON.parse(await serving.firstLine()) as {
      baseUrl: string
      keys: { apiKey: string }[]
    }
    target = new Target({
      baseUrl,
      contract: defaultContract,
      key: keys[3]!.apiKey,
      otherKey: keys[2]!.apiKey,
      operatorKey: null,
    })
  })
  afterAll(async () => {
    serving.child.kill()
    await serving.ended
  })

  for (const { rule, title, run } of checks.filter(({ operated }) => !operated)) {
    test(`${rule} ${title}`, () => run(target))
  }
})
