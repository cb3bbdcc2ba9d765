import { expect, test } from 'vitest'
import { pageDocument } from '../../src/portal/page/document.ts'
import type { Speech } from '../../src/portal/page/speech.ts'
import { html } from '../../src/user/html.ts'
import { canBrowse, openBrowser } from '../chromium.ts'
import { settingsOf } from './portal.ts'

test.skipIf(!canBrowse)(
  'a host that says light or dark has all colours of a system that is so (needs chromium: apt-get install chromium)',
  async () => {
    const speech: Pick<Speech, 'locale' | 'say'> = { locale: 'en', say: (word) => word }
    const { text } = pageDocument(html`<main class="page"></main>`, settingsOf(''), speech, [])
    const names = [...new Set([...text.matchAll(/(--[\w-]+)\s*:/g)].map(([, name]) => name!))]
    const browser = await openBrowser()
    const coloursOf = async (colorScheme: 'light' | 'dark', theme: 'light' | 'dark' | null) => {
      const page = await browser.newPage({ colorScheme })
      await page.setContent(text)
      const seen = await page.evaluate(
        `(() => {
          ${theme === null ? '' : `document.documentElement.dataset.mode = '${theme}'`}
          const root = getComputedStyle(document.documentElement)
          const { backgroundColor, color } = getComputedStyle(document.body)
          const all = ${JSON.stringify(names)}.map((name) => [name, root.getPropertyValue(name).trim()])
          return { ...Object.fromEntries(all), backgroundColor, color, scheme: root.colorScheme.split(' ')[0] }
        })()`,
      )
      await page.close()
      return seen
    }
    try {
      const light = await coloursOf('light', null)
      const dark = await coloursOf('dark', null)
      expect(light).toMatchObject({ '--page': '#ffffff', '--c1': expect.stringMatching(/^#/) })
      expect(dark).toMatchObject({ '--page': '#0d1117' })
      for (const system of ['light', 'dark'] as const) {
        expect(await coloursOf(system, 'light')).toEqual({ ...(light as object), scheme: 'light' })
        expect(await coloursOf(system, 'dark')).toEqual({ ...(dark as object), scheme: 'dark' })
      }
    } finally {
      await browser.close()
    }
  },
)
