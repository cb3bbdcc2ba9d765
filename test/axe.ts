import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'

const axe = readFileSync(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

/** The violations that axe finds on a page in its current state: each rule, and the first place. */
export async function violations(tab: Page): Promise<readonly string[]> {
  await tab.evaluate(axe)
  return tab.evaluate(
    `axe.run().then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ': ' + nodes[0].target + ' ' + nodes[0].failureSummary))`,
  )
}
