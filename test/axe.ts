import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'

const axe = readFileSync(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

/** What other colours change: axe's other rules read the elements, which are the same in light and dark. */
export const ofColours = ['color-contrast', 'link-in-text-block'] as const

/** What axe's rules read in a drawing: names, roles, addresses, what a key reaches. */
const told = `:is(title, desc, a, [id], [role], [href], [lang], [tabindex], [aria-label], [aria-labelledby],
  [aria-describedby], [aria-roledescription])`
const ink = `svg *:not(${told}, :has(${told}))`

/**
 * The violations that axe finds on a page in its current state: each rule (of all, or of those named), and the first place.
 * Meanwhile, the ink of drawings is out of the page: axe visits each mark for each rule, six sevenths of its time, and has
 * nothing to say about it. Its rule of contrast reads `color`, and a drawing has `fill`: even white on white passes.
 */
export async function violations(tab: Page, rules?: readonly string[]): Promise<readonly string[]> {
  if (!(await tab.evaluate('"axe" in window'))) await tab.evaluate(axe)
  // Details of what passes take most of the rest, and nobody reads them.
  const options = JSON.stringify({ resultTypes: ['violations'], runOnly: rules })
  return tab.evaluate(`(async () => {
    const ink = new Set(document.querySelectorAll(${JSON.stringify(ink)}))
    const outermost = [...ink].filter((mark) => !ink.has(mark.parentNode))
    const places = outermost.map((mark) => [mark, mark.parentNode, mark.nextSibling])
    for (const mark of outermost) mark.remove()
    try {
      const { violations } = await axe.run(${options})
      return violations.map(({ id, nodes }) =>
        id + ': ' + nodes[0].target + ' ' + nodes[0].failureSummary)
    } finally {
      for (const [mark, parent, next] of places.reverse()) parent.insertBefore(mark, next)
    }
  })()`)
}
