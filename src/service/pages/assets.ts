import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { pageStyle } from '../../chart/page-style.ts'
import type { PageRoute } from './route.ts'

const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="4" fill="#0073d8"/><path d="M4 12 8 4l4 8M5.6 9.2h4.8" fill="none" stroke="#fff" stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round"/></svg>'

/** Style sheet, script and icon of the pages. Browsers load them again only when they change. */
export function assetRoutes(): readonly PageRoute[] {
  const file = (name: string) => new URL(`../../../src/service/pages/${name}`, import.meta.url)
  return [
    asset('/pages/page.css', 'text/css; charset=utf-8', pageStyle(file('page.css'))),
    asset(
      '/pages/live.js',
      'text/javascript; charset=utf-8',
      readFileSync(file('live.js'), 'utf8'),
    ),
    asset('/pages/icon.svg', 'image/svg+xml', icon),
  ]
}

function asset(path: string, type: string, body: string): PageRoute {
  const tag = `"${hash('sha256', body).slice(0, 16)}"`
  return [
    `GET ${path}`,
    ({ call }) =>
      call.incoming.headers['if-none-match'] === tag
        ? { is: 'unchanged', tag }
        : { is: 'asset', type, body, tag },
  ]
}
