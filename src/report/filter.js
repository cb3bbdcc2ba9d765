// Adds filters to the columns of a table, and shows the sums of the remaining rows. Runs in the reader's browser.
// Cells are set as text, never as markup.
;(() => {
  const sum = new Intl.NumberFormat('en-US', { maximumFractionDigits: 2 })

  /** @param {Element} card */
  function offer(card) {
    /** @type {NodeListOf<HTMLElement>} */
    const heads = card.querySelectorAll('thead tr:last-child > *')
    /** @type {NodeListOf<HTMLTableRowElement>} */
    const rows = card.querySelectorAll('tbody tr')
    /** @type {(row: HTMLTableRowElement, at: number) => string} */
    const textOf = (row, at) => row.cells[at]?.textContent ?? ''
    const choices = [...heads].flatMap((head, at) =>
      head.dataset.filter === '' ? [choiceOf(head, at)] : [],
    )

    /**
     * @param {HTMLElement} head
     * @param {number} at
     */
    function choiceOf(head, at) {
      const select = document.createElement('select')
      select.setAttribute('aria-label', head.textContent.trim())
      const values = [...new Set([...rows].map((row) => textOf(row, at)))].sort()
      select.append(new Option('all', ''), ...values.map((value) => new Option(value, value)))
      const label = document.createElement('label')
      label.append(`${head.textContent.trim()} `, select)
      select.addEventListener('change', choose)
      return { at, label, select }
    }

    const told = document.createElement('p')
    told.className = 'note'
    told.setAttribute('role', 'status')

    function choose() {
      const chosen = choices.filter(({ select }) => select.value !== '')
      for (const row of rows) {
        row.hidden = chosen.some(({ at, select }) => textOf(row, at) !== select.value)
      }
      const shown = [...rows].filter((row) => !row.hidden)
      if (chosen.length > 0) for (const fold of card.querySelectorAll('details')) fold.open = true
      const sums = [...heads].flatMap((head, at) => {
        const values = shown.flatMap((row) => row.cells[at]?.dataset.value ?? [])
        if (values.length === 0) return []
        return `${head.textContent.trim()} ${sum.format(values.reduce((all, each) => all + Number(each), 0))}`
      })
      const count = `${shown.length} of ${rows.length} rows`
      told.textContent = chosen.length === 0 ? '' : [count, ...sums].join(', ')
    }

    const bar = document.createElement('div')
    bar.className = 'filters'
    bar.append(...choices.map(({ label }) => label))
    card.querySelector('h3')?.after(bar, told)
  }

  for (const card of document.querySelectorAll('section.card:has([data-filter])')) offer(card)
})()
