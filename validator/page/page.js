// The page is complete without this: it only filters tables.
for (const form of document.querySelectorAll(".filter")) {
  form.hidden = false;
  const [search, only] = form.querySelectorAll("input");
  const rows = form.parentElement.querySelectorAll("tbody tr");
  form.addEventListener("input", () => {
    for (const row of rows) {
      const named = row.cells[0].textContent.toLowerCase().includes(search.value.toLowerCase());
      row.hidden = !named || (only.checked && !row.classList.contains("off"));
    }
  });
}
