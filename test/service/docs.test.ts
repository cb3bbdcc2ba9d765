import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { serveCommand } from '../../src/cli/commands/serve.ts'
import { faults } from '../../src/service/faults/list.ts'
import { conducts } from '../../src/service/money/conducts.ts'
import { moneyFaults } from '../../src/service/money/faults/list.ts'
import { profileQuestions } from '../../src/service/profile.ts'
import { notDoneBy } from '../../src/service/request/refused.ts'

const docs = join(import.meta.dirname, '../../docs')
const guide = readFileSync(join(docs, 'service.md'), 'utf8')
const pages = readFileSync(join(docs, 'service-pages.md'), 'utf8')

const rows = (guide.match(/^\| `.*$/gm) ?? []).map((row) =>
  row.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|')),
)
const rowOf = (name: string) => rows.find((cells) => cells[1] === `\`${name}\``)

test('the guide lists every fault with its rule and its effect', () => {
  for (const { name, rule, does } of faults) {
    const [, , breaks, description] = rowOf(name) ?? []
    expect([name, breaks]).toEqual([name, rule])
    expect(description).toContain(does)
  }
})

test('the guide lists every question of a profile, with its answers and its standard', () => {
  for (const { name, description, answers, standard } of profileQuestions()) {
    const listed = answers.split(' | ')
    const cell = listed.length === 1 ? answers : `\`${listed.join('` `')}\``
    expect(rowOf(name)?.slice(2, 5)).toEqual([description, cell, `\`${standard}\``])
  }
})

test('the guide of money lists every fault with its report and places, and every conduct', () => {
  const money = readFileSync(join(docs, 'service-money.md'), 'utf8')
  for (const { name, ids, where, does, probability } of moneyFaults) {
    const share = probability === 1 ? '' : ` (${probability})`
    expect(money).toContain(
      `| \`${name}\` | ${ids.join(', ')} | ${where.join(', ')} | ${does}${share} |`,
    )
  }
  for (const [name, does] of Object.entries(conducts)) {
    expect(money).toContain(`| \`${name}\` | ${does.replace(': ', ' | ')} |`)
  }
})

test('the guide lists every parameter that is refused', () => {
  for (const name of [...notDoneBy('chat'), ...notDoneBy('messages')]) {
    expect(guide).toContain(`\`${name}\``)
  }
})

test('the guides mention every flag of the command', () => {
  for (const { long } of serveCommand().options) {
    if (['--host', '--port', '--help'].includes(long ?? '')) continue
    expect([long, `${guide}${pages}`.includes(long ?? '')]).toEqual([long, true])
  }
})
