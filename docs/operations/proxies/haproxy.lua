-- Asks guestlist, and sets txn.guestlist to `absent` where it rejects. Whatever goes wrong leaves the
-- variable unset, and the request passes.

local gate = "http://127.0.0.1:8700/auth/forward"
local timeout_ms = 100

core.register_action("guestlist", { "http-req" }, function(txn)
    local client = core.httpclient()
    local done, answer = pcall(client.get, client, {
        url = gate,
        timeout = timeout_ms,
        headers = {
            ["x-forwarded-uri"] = { txn.f:pathq() },
            ["x-forwarded-method"] = { txn.f:method() },
            ["x-forwarded-host"] = { txn.sf:req_fhdr("host") },
        },
    })
    if not done or answer == nil or answer.status ~= 404 or answer.headers == nil then return end
    local verdict = answer.headers["x-guestlist-verdict"]
    if verdict and verdict[0] == "absent" then txn:set_var("txn.guestlist", "absent") end
end)
