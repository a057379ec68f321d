// Streamlit would make an entry of the browser's history for every value that a field writes into the address. Back
// then leads to the same page without the value, where the field is blank. Another lab is an entry; what is set in a lab
// is none.
if (!history.onePage) {
  const push = history.pushState.bind(history)
  history.pushState = (state, title, url) => {
    const to = new URL(url ?? location.href, location.href)
    const labs = [location.href, to].map(at => new URL(at).searchParams.get('lab'))
    const another = labs[0] !== labs[1]
    const same = to.pathname === location.pathname && !another
    return same ? history.replaceState(state, title, url) : push(state, title, url)
  }
  history.onePage = true
}
