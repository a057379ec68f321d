// Of every page. A page is drawn many times in one window: each part acts once. The page says what language it has.

// Plotly knows the marks of a language and not its percents: 50% is written with a space as soon as it is drawn. A name
// from a file that holds a mark of direction would turn the letters of the sentence around it: it is shown in its place.
if (!window.dpSpaces) {
  window.dpSpaces = true
  const turns = /[\u202a-\u202e\u2066-\u2069]/g
  const space = (node) => {
    if (node.data.search(turns) >= 0) node.data = node.data.replace(turns, '\ufffd')
    if (window.dpComma && /\d%/.test(node.data) && node.parentElement?.closest('.js-plotly-plot'))
      node.data = node.data.replace(/(\d)%/g, '$1\u00a0%')
  }
  const all = (node) => node.nodeType == 3 ? space(node) : node.childNodes.forEach(all)
  new MutationObserver((seen) => {
    for (const { target, addedNodes } of seen) target.nodeType == 3 ? space(target) : addedNodes.forEach(all)
  }).observe(document.body, { subtree: true, childList: true, characterData: true })
}

// Figures are painted here, in the theme of the moment: when the system goes dark or light, the page is drawn again, by
// Streamlit's own key for that.
if (!window.dpFollows) {
  window.dpFollows = true
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => setTimeout(() => {
    const press = { key: 'r', code: 'KeyR', keyCode: 82, bubbles: true }
    const app = document.querySelector('[data-testid=stApp]')
    for (const kind of ['keydown', 'keyup']) app?.dispatchEvent(new KeyboardEvent(kind, press))
  }, 300))
}

// On a phone the menu covers most of the page: it closes when one of its pages is chosen.
if (!window.dpCloses) {
  window.dpCloses = true
  document.addEventListener('click', ({ target }) => {
    if (innerWidth > 800 || !target.closest?.('[data-testid=stSidebar] a')) return
    setTimeout(() => document.querySelector('[data-testid=stSidebarCollapseButton] button')?.click(), 60)
  })
}
