import { readFileSync } from 'node:fs'
import { chartCss } from './theme.ts'

const base = new URL('../../src/chart/page.css', import.meta.url)

/** The complete style sheet of a page: the variables of drawings, the common rules, and the page's own. */
export function pageStyle(own: URL): string {
  return chartCss + readFileSync(base, 'utf8') + readFileSync(own, 'utf8')
}
