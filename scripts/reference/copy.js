/*
 * copy.js - add a copy button to each listing. In a console listing, the button copies
 * only the commands, without prompts and output.
 */
"use strict";

function textToCopy(listing) {
    const lines = listing.trimEnd().split("\n");
    const commands = lines.filter((line) => line.startsWith("$ ")).map((line) => line.slice(2));

    return (commands.length > 0 ? commands : lines).join("\n") + "\n";
}

function addButton(listing) {
    const frame = document.createElement("div");
    const button = document.createElement("button");

    frame.className = "listing";
    button.className = "copy";
    button.type = "button";
    button.textContent = "Copy";
    button.addEventListener("click", () => {
        navigator.clipboard.writeText(textToCopy(listing.textContent)).then(
            () => { button.textContent = "Copied"; },
            () => { button.textContent = "Not allowed"; });
        setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
    listing.replaceWith(frame);
    frame.append(listing, button);
}

if (typeof module !== "undefined")
    module.exports = { textToCopy };
else
    document.querySelectorAll("pre:not(.declared)").forEach(addButton);
