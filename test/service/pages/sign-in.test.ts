import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { CustomerService } from '../../../src/service/pages/customer-service.ts'
import { hashPassword } from '../../../src/service/pages/passwords.ts'

test.each([['x'.repeat(200)], ['𝒳'.repeat(200)]])(
  'a password of 200 letters is right alone, and not with anything after it',
  async (password) => {
    const sql = new DatabaseSync(':memory:')
    sql.exec('CREATE TABLE accounts (id INTEGER PRIMARY KEY, invited_by INTEGER)')
    sql.exec('CREATE TABLE api_keys (id INTEGER PRIMARY KEY)')
    const account = { id: 1, name: 'ada@example.com', passwordHash: await hashPassword(password) }
    const kit = { database: { sql, write() {} }, accounts: { byName: () => account } }
    const service = new CustomerService(kit as never, {} as never)
    const signIn = async (given: string) => (await service.signIn(account.name, given))?.id
    expect(await signIn(password)).toBe(1)
    expect(await signIn(`${password}WRONG`)).toBeUndefined()
    expect(await signIn(password.slice(0, -2))).toBeUndefined()
    sql.close()
  },
)
