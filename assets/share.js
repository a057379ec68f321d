// A browser offers its clipboard on secure pages only; elsewhere a field of text is selected and copied. The braces keep
// the names out of the page's own, for the script runs again wherever a lab is drawn.
{
const put = async text => {
  try { await navigator.clipboard.writeText(text); return; } catch {}
  const field = document.createElement('textarea');
  field.value = text; document.body.append(field); field.select();
  document.execCommand('copy'); field.remove();
};
for (const button of document.querySelectorAll('.dp-copy[data-more]')) button.onclick = async () => {
  const link = new URL(location.href);
  for (const [name, value] of Object.entries(JSON.parse(button.dataset.more))) link.searchParams.set(name, value);
  await put(link.href);
  const words = button.dataset.words ??= button.textContent;
  button.textContent = button.dataset.done;
  setTimeout(() => { button.textContent = words; }, 1800);
};
for (const button of document.querySelectorAll('.dp-full')) button.onclick = () => {
  if (document.fullscreenElement) { document.exitFullscreen(); return; }
  document.body.classList.add('dp-projector');
  document.documentElement.requestFullscreen().catch(() => document.body.classList.remove('dp-projector'));
};
document.onfullscreenchange = () => {
  if (!document.fullscreenElement) document.body.classList.remove('dp-projector');
  window.dispatchEvent(new Event('resize'));  // figures take the new width
};
}
